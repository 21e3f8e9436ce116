/** What the browser keeps: the language, and the sentences of the past. Nothing of it is ever sent. */

export type Task = "fill" | "correct";

export interface Past {
  task: Task;
  text: string;
}

const HISTORY = "tiankong.history";
const LANGUAGE = "tiankong.language";
export const HISTORY_LENGTH = 20;

/** Read, or null: a browser may forbid its storage to a page. */
function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The page works without a memory.
  }
}

export function readHistory(): Past[] {
  try {
    const value: unknown = JSON.parse(read(HISTORY) ?? "[]");
    return Array.isArray(value) ? value.filter(isPast).slice(0, HISTORY_LENGTH) : [];
  } catch {
    return [];
  }
}

function isPast(value: unknown): value is Past {
  if (typeof value !== "object" || value === null) return false;
  const { task, text } = value as Partial<Past>;
  return (task === "fill" || task === "correct") && typeof text === "string" && text !== "";
}

/** The newest first, each once. */
export function remembered(history: readonly Past[], entry: Past): Past[] {
  const others = history.filter((each) => each.task !== entry.task || each.text !== entry.text);
  return [entry, ...others].slice(0, HISTORY_LENGTH);
}

export function writeHistory(history: readonly Past[]): void {
  write(HISTORY, JSON.stringify(history));
}

export function readLanguage(): "zh" | "en" {
  return read(LANGUAGE) === "en" ? "en" : "zh";
}

export function writeLanguage(language: "zh" | "en"): void {
  write(LANGUAGE, language);
}
