import { EXAMPLES } from "./examples";
import type { Past } from "./store";
import type { Say } from "./strings";

export function Examples({ say, onOpen }: { say: Say; onOpen: (past: Past) => void }) {
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">{say("examples")}</h2>
      {EXAMPLES.map(({ kind, entries }) => (
        <div key={kind} className="kind">
          <h3>{say(kind)}</h3>
          <ul>
            {entries.map((entry) => (
              <li key={entry.text}>
                <Entry past={entry} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

interface HistoryProps {
  say: Say;
  history: readonly Past[];
  onOpen: (past: Past) => void;
  onClear: () => void;
}

export function History({ say, history, onOpen, onClear }: HistoryProps) {
  return (
    <section aria-labelledby="history">
      <div className="heading">
        <h2 id="history">{say("history")}</h2>
        {history.length > 0 && (
          <button type="button" className="quiet" onClick={onClear}>
            {say("history.clear")}
          </button>
        )}
      </div>
      <ul>
        {history.map((past) => (
          <li key={`${past.task}-${past.text}`}>
            <Entry past={past} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      <p className="help">
        {history.length === 0 && say("history.empty")} {say("history.note")}
      </p>
    </section>
  );
}

/** A sentence to open; its blanks are drawn as boxes, and read as what they are. */
function Entry({ past, onOpen }: { past: Past; onOpen: (past: Past) => void }) {
  return (
    <button type="button" className="entry" lang="zh-CN" title={past.text} onClick={() => onOpen(past)}>
      {past.text.replaceAll("[MASK]", "□")}
    </button>
  );
}
