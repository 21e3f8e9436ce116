// Starts Swagger UI on the schema that the page names. A file of its own, since the page's policy allows no inline script.
const element = document.getElementById("documentation");
SwaggerUIBundle({
  url: element.dataset.schema,
  domNode: element,
  deepLinking: true,
  validatorUrl: null,
});
