/** Readings of single characters: a table beside the script, fetched when the first candidate is shown. */

import table from "./pinyin.txt?url";

export type Readings = ReadonlyMap<string, string>;

const FIRST = 0x3400;
const DIGITS = Array.from({ length: 0x7f - 0x23 }, (_, at) => String.fromCharCode(0x23 + at))
  .filter((digit) => digit !== "\\")
  .join("");
const LAST = DIGITS.length - 1;

/** Read what scripts/pinyin.py wrote. */
export function parse(table: string): Readings {
  const [names = "", gaps = "", codes = ""] = table.split("\n");
  const syllables = names.split(" ");
  const readings = new Map<string, string>();
  let point = FIRST;
  let at = 0;
  for (const digit of gaps) {
    const gap = DIGITS.indexOf(digit);
    point += gap;
    if (gap === LAST) continue;
    const code = DIGITS.indexOf(codes[at] ?? "") * DIGITS.length + DIGITS.indexOf(codes[at + 1] ?? "");
    const syllable = syllables[code];
    if (syllable !== undefined) readings.set(String.fromCodePoint(point), syllable);
    point += 1;
    at += 2;
  }
  return readings;
}

let loading: Promise<Readings> | undefined;

export function readings(): Promise<Readings> {
  loading ??= fetch(table)
    .then((response) => (response.ok ? response.text() : ""))
    .then(parse)
    .catch(() => {
      loading = undefined; // offline, perhaps: ask again with the next answer
      return new Map<string, string>();
    });
  return loading;
}
