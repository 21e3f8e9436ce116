import type { Ref } from "react";
import { type Replacement, parts } from "./text";

/** A text with its replaced pieces marked. */
export function Pieces({ text, replacements }: { text: string; replacements: readonly Replacement[] }) {
  return parts(text, replacements).map((part, key) =>
    part.at === undefined ? <span key={key}>{part.text}</span> : <mark key={key}>{part.text}</mark>,
  );
}

interface Props {
  ref?: Ref<HTMLParagraphElement>;
  title: string;
  text: string;
  replacements: readonly Replacement[];
}

/** The sentence with the answer in place; takes the focus when something was put into it. */
export function Sentence({ ref, title, text, replacements }: Props) {
  return (
    <div className="sentence">
      <h2>{title}</h2>
      <p ref={ref} tabIndex={-1} lang="zh-CN">
        <Pieces text={text} replacements={replacements} />
      </p>
    </div>
  );
}
