import { type KeyboardEvent, type ReactNode, type RefObject, useId, useRef } from "react";
import type { Say } from "./strings";

interface Props {
  say: Say;
  label: string;
  help: string;
  placeholder: string;
  text: string;
  facts: string;
  fault: ReactNode;
  submit: string;
  area: RefObject<HTMLTextAreaElement | null>;
  children?: ReactNode;
  /** Once for each change; `composing` while an input method has the last word. */
  onText: (text: string, composing: boolean) => void;
  onSubmit: () => void;
  onInsert?: () => void;
}

/** The text area with its buttons, help and what is wrong with the text. */
export function Editor(props: Props) {
  const { label, help, placeholder, text, facts, fault, submit, area, children, onText, onSubmit, onInsert } = props;
  const id = useId();
  const composing = useRef(false);

  function onKey(event: KeyboardEvent<HTMLTextAreaElement>) {
    // 229 is what browsers send for a key that an input method takes.
    if (composing.current || event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      onSubmit();
    } else if (event.ctrlKey && event.key.toLowerCase() === "m" && onInsert !== undefined) {
      event.preventDefault();
      onInsert();
    }
  }

  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        ref={area}
        lang="zh-CN"
        rows={3}
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        aria-describedby={`${id}-help ${id}-fault`}
        aria-invalid={Boolean(fault)}
        onChange={(event) => onText(event.target.value, composing.current)}
        onKeyDown={onKey}
        onCompositionStart={() => {
          composing.current = true;
          onText(text, true);
        }}
        onCompositionEnd={(event) => {
          composing.current = false;
          onText(event.currentTarget.value, false);
        }}
      />
      <div id={`${id}-fault`} role="alert" className="fault">
        {fault}
      </div>
      <div className="bar">
        {children}
        <span className="facts">{facts}</span>
        <button type="submit" className="main">
          {submit}
        </button>
      </div>
      <p id={`${id}-help`} className="help">
        {help}
      </p>
    </form>
  );
}
