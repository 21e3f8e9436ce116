/** Answers in the forms that people take away. */

import type { Answer } from "./api";

export function asJson(answer: Answer<unknown>): string {
  return JSON.stringify(answer, null, 2);
}

/** A command that gives the same answer; an apostrophe cannot stand inside the quotes of a shell. */
export function asCurl(address: string, body: object): string {
  const json = JSON.stringify(body).replaceAll("'", "'\\''");
  return `curl -sS '${address}' -H 'Content-Type: application/json' -d '${json}'`;
}

export function percent(score: number): string {
  const value = score * 100;
  if (value === 0) return "0%";
  if (value < 0.01) return "<0.01%";
  return `${value >= 99.95 ? "100" : value < 1 ? value.toFixed(2) : value.toFixed(1)}%`;
}

export function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** How many times as likely, from a natural logarithm. */
export function times(margin: number): string {
  const factor = Math.exp(margin);
  if (factor >= 1000) return "1000+";
  return factor >= 10 ? String(Math.round(factor)) : factor.toFixed(1);
}

/** Copy, also where the page has no clipboard (plain HTTP); true when it worked. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    const focused = document.activeElement;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}
