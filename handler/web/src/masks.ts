/** Blanks in the text as typed: the same forms that the service accepts (handler/core/text.py). */

export const MASK = "[MASK]";

const FULL_WIDTH = 0xfee0;
const LETTERS = [..."mask"]
  .map((letter) => {
    const capital = letter.toUpperCase();
    const wide = (each: string) => String.fromCharCode(each.charCodeAt(0) + FULL_WIDTH);
    return `[${letter}${capital}${wide(letter)}${wide(capital)}]`;
  })
  .join("");
const FORMS = new RegExp(`[\\[［【]\\s*${LETTERS}\\s*[\\]］】]|<${LETTERS}>`, "g");
const NEAR_MISS =
  /m\s*a\s*s\s*k|[[［【<(（{]\s*[amsk]{3,5}\s*[\]］】>)）}]|[_＿]{2,}|[□◻▢]|[[［【(（]\s*[\]］】)）]/i;
// Whole near misses, so that each can be replaced by a blank.
const MENDABLE =
  /[[［【<(（{]?\s*m\s*a\s*s\s*k\s*[\]］】>)）}]?|[[［【<(（{]\s*[amsk]{3,5}\s*[\]］】>)）}]|[_＿]{2,}|[□◻▢]|[[［【(（]\s*[\]］】)）]/gi;

export interface Span {
  /** Offsets in UTF-16 units, as strings here have them; the service counts code points. */
  start: number;
  end: number;
}

export function findMasks(text: string): Span[] {
  return [...text.matchAll(FORMS)].map((found) => ({ start: found.index, end: found.index + found[0].length }));
}

/** Put a blank where the selection is. */
export function insertMask(text: string, start: number, end: number): { text: string; caret: number } {
  return { text: text.slice(0, start) + MASK + text.slice(end), caret: start + MASK.length };
}

/** Replace what was probably meant as a blank. */
export function mend(text: string): string {
  return findMasks(text).length > 0 ? text : text.replace(MENDABLE, MASK);
}

export interface Limits {
  max_text_chars: number;
  max_masks: number;
  max_top_k: number;
}

export const DEFAULT_LIMITS: Limits = { max_text_chars: 10_000, max_masks: 16, max_top_k: 100 };

export type Fault =
  | { kind: "empty" }
  | { kind: "no-mask" }
  | { kind: "misspelt" }
  | { kind: "too-many"; limit: number; actual: number }
  | { kind: "too-long"; limit: number; actual: number };

export function lengthOf(text: string): number {
  return [...text].length;
}

/** Say what keeps a text from being sent; null where nothing does. */
export function faultOf(text: string, needsMask: boolean, limits: Limits): Fault | null {
  if (text.trim() === "") return { kind: "empty" };
  const length = lengthOf(text);
  if (length > limits.max_text_chars) return { kind: "too-long", limit: limits.max_text_chars, actual: length };
  if (!needsMask) return null;
  const masks = findMasks(text).length;
  if (masks === 0) return { kind: NEAR_MISS.test(text) ? "misspelt" : "no-mask" };
  if (masks > limits.max_masks) return { kind: "too-many", limit: limits.max_masks, actual: masks };
  return null;
}
