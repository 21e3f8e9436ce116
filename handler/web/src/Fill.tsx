import { useEffect, useRef, useState } from "react";
import type { FilledText, JointCandidate } from "./api";
import type { Opened } from "./App";
import { Candidates, JointCandidates } from "./Candidates";
import { Editor } from "./Editor";
import { percent } from "./formats";
import { type Fault, faultOf, findMasks, insertMask, lengthOf, MASK, mend } from "./masks";
import { type Readings, readings } from "./pinyin";
import { Sentence } from "./Sentence";
import { Details, State } from "./State";
import { type TaskProps, answerOf, useTask } from "./task";

const TOP_KS = [3, 5, 10, 20, 50];
const DEFAULT_TOP_K = 5;
const SAID_CANDIDATES = 3;

export function Fill(props: TaskProps & { opened: Opened }) {
  const { service, say, limits, opened, onSaid } = props;
  const [text, setText] = useState("");
  const [topK, setTopK] = useState(DEFAULT_TOP_K);
  const [fault, setFault] = useState<Fault | null>(null);
  const [before, setBefore] = useState<string[]>([]);
  const [table, setTable] = useState<Readings>(new Map());
  const area = useRef<HTMLTextAreaElement | null>(null);
  const sentence = useRef<HTMLParagraphElement | null>(null);
  const { phase, latest } = useTask<FilledText>("fill", props, (question, language, signal) =>
    service.fill(question.text, question.topK, language, signal),
  );
  const answer = answerOf(phase);
  const full = before.length > 0 && text.trim() !== "" && findMasks(text).length === 0;

  useEffect(() => {
    if (opened.times > 0) {
      setBefore([]);
      start(opened.text, topK);
    }
    // Only when something is opened: the candidates' number has its own way.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [opened]);

  useEffect(() => {
    if (phase.kind !== "answered") return;
    void readings().then(setTable);
    onSaid(
      phase.answer.result.masks
        .map((mask) => {
          const best = mask.candidates.slice(0, SAID_CANDIDATES);
          const candidates = best.map((each) => `${each.token} ${percent(each.score)}`).join("，");
          return say("said.fill", { number: mask.index + 1, candidates });
        })
        .join(" "),
    );
  }, [phase, say, onSaid]);

  function start(next: string, k: number) {
    setText(next);
    const found = faultOf(next, true, limits);
    setFault(found);
    if (found === null) void latest.now({ text: next, topK: k, wanted: true });
    else latest.clear();
  }

  function onText(next: string, composing: boolean) {
    setText(next);
    setBefore([]);
    if (composing) {
      latest.cancel();
      return;
    }
    const found = faultOf(next, true, limits);
    // While a sentence is being typed, a blank that is not there yet is no fault.
    setFault(found?.kind === "empty" || found?.kind === "no-mask" ? null : found);
    if (found === null) latest.later({ text: next, topK, wanted: false });
    else latest.clear();
  }

  function insert() {
    const element = area.current;
    if (element === null) return;
    element.focus();
    // Keeps the browser's own undo, where it still has this command.
    if (document.execCommand("insertText", false, MASK)) return;
    const { text: next, caret } = insertMask(text, element.selectionStart, element.selectionEnd);
    onText(next, false);
    requestAnimationFrame(() => element.setSelectionRange(caret, caret));
  }

  function choose(next: string) {
    if (answer === undefined || answer.result.text !== text) return; // the text has moved on
    setBefore([...before, text]);
    setText(next);
    setFault(null);
    onSaid(say("said.filled", { text: next }));
    if (findMasks(next).length > 0) void latest.now({ text: next, topK, wanted: true });
    else latest.clear();
    requestAnimationFrame(() => sentence.current?.focus());
  }

  function undo() {
    const last = before.at(-1);
    if (last === undefined) return;
    setBefore(before.slice(0, -1));
    start(last, topK);
    area.current?.focus();
  }

  const facts = `${say("blanks", { count: findMasks(text).length })} · ${say("characters", { count: lengthOf(text) })}`;
  return (
    <>
      <Editor
        say={say}
        label={say("fill.label")}
        help={say("fill.help")}
        placeholder={say("fill.placeholder")}
        submit={say("submit.fill")}
        text={text}
        facts={facts}
        area={area}
        fault={
          fault !== null && (
            <>
              {say(`check.${fault.kind}`, { ...fault })}
              {fault.kind === "misspelt" && (
                <button type="button" className="quiet" onClick={() => start(mend(text), topK)}>
                  {say("check.mend")}
                </button>
              )}
            </>
          )
        }
        onText={onText}
        onSubmit={() => start(text, topK)}
        onInsert={insert}
      >
        <button type="button" className="insert" aria-keyshortcuts="Control+M" onClick={insert}>
          {say("insert")} <kbd>{say("insert.key")}</kbd>
        </button>
        <label className="top-k">
          {say("top-k")}
          <select
            value={topK}
            onChange={(event) => {
              const k = Number(event.target.value);
              setTopK(k);
              if (faultOf(text, true, limits) === null) void latest.now({ text, topK: k, wanted: true });
            }}
          >
            {TOP_KS.filter((k) => k <= limits.max_top_k).map((k) => (
              <option key={k}>{k}</option>
            ))}
          </select>
        </label>
      </Editor>
      <section className="results" aria-label={say("results")} aria-busy={phase.kind === "waiting"}>
        <State
          say={say}
          phase={phase}
          empty={full ? null : say("empty.fill")}
          onRetry={(question) => void latest.now({ ...question, wanted: true })}
        />
        {(answer !== undefined || full) && (
          <Sentence
            ref={sentence}
            title={say("sentence")}
            text={answer?.result.text ?? text}
            replacements={answer === undefined ? [] : best(answer.result)}
          />
        )}
        {full && <p className="done">{say("sentence.full")}</p>}
        {before.length > 0 && (
          <button type="button" className="quiet undo" onClick={undo}>
            {say("undo")}
          </button>
        )}
        {answer !== undefined && (
          <div className={phase.kind === "waiting" ? "stale" : undefined}>
            <JointCandidates say={say} result={answer.result} onChoose={choose} />
            <Candidates say={say} masks={answer.result.masks} table={table} onChoose={choose} />
            <Details
              say={say}
              timed={answer}
              onSaid={onSaid}
              address={service.address("v1/fill-mask")}
              body={{ text: answer.result.text, top_k: topK }}
              text={bestText(answer.result)}
            />
          </div>
        )}
      </section>
    </>
  );
}

/** The likeliest filling of every blank: the best of the whole text where there is one, else the best of each. */
function best(result: FilledText) {
  const together: JointCandidate | undefined = result.joint[0];
  return result.masks.map((mask, at) => ({
    start: mask.start,
    end: mask.end,
    text: together?.tokens[at] ?? mask.candidates[0]?.token ?? "",
  }));
}

function bestText(result: FilledText): string {
  const points = [...result.text];
  for (const { start, end, text } of best(result).reverse()) points.splice(start, end - start, text);
  return points.join("");
}
