import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { Service, baseOf } from "./api";
import "./style.css";

const root = document.getElementById("page");
if (root === null) throw new Error("the page has no place for itself");
createRoot(root).render(
  <StrictMode>
    <App service={new Service(baseOf(import.meta.url))} />
  </StrictMode>,
);
