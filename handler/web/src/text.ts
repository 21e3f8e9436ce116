/** Strings by code points, as the service counts them. */

export interface Part {
  text: string;
  /** Index of the replaced piece; undefined between them. */
  at?: number;
  original?: string;
}

export interface Replacement {
  start: number;
  end: number;
  text: string;
}

/** Cut a text at its replacements, which stand in order and do not overlap. */
export function parts(text: string, replacements: readonly Replacement[]): Part[] {
  const points = [...text];
  const found: Part[] = [];
  let done = 0;
  replacements.forEach((each, at) => {
    if (each.start > done) found.push({ text: points.slice(done, each.start).join("") });
    found.push({ text: each.text, at, original: points.slice(each.start, each.end).join("") });
    done = each.end;
  });
  if (done < points.length) found.push({ text: points.slice(done).join("") });
  return found;
}

export function splice(text: string, start: number, end: number, filling: string): string {
  const points = [...text];
  return points.slice(0, start).join("") + filling + points.slice(end).join("");
}
