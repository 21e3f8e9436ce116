/** Stands for Axios's fetch adapter, which is never asked for: XMLHttpRequest comes first. */

export function getFetch(): undefined {
  return undefined;
}

export default undefined;
