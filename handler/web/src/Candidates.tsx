import type { FilledMask, FilledText } from "./api";
import { percent } from "./formats";
import type { Readings } from "./pinyin";
import { Pieces } from "./Sentence";
import type { Say } from "./strings";

interface Props {
  say: Say;
  masks: readonly FilledMask[];
  table: Readings;
  onChoose: (text: string) => void;
}

/** The candidates of each blank, ranked, with bars. */
export function Candidates({ say, masks, table, onChoose }: Props) {
  return (
    <div className="masks">
      {masks.map((mask) => (
        <section key={`${mask.index}-${mask.start}`} aria-labelledby={`blank-${mask.index}`}>
          <h3 id={`blank-${mask.index}`}>
            {masks.length > 1 ? say("blank", { number: mask.index + 1 }) : say("blank.one")}
          </h3>
          <ol className="candidates">
            {mask.candidates.map((candidate) => (
              <li key={candidate.token}>
                <button type="button" onClick={() => onChoose(candidate.text)}>
                  <span className="unseen">{say("choose")}</span>
                  <span className="pinyin" lang="zh-Latn-pinyin">
                    {table.get(candidate.token) ?? ""}
                  </span>
                  <span className="token" lang="zh-CN">
                    {candidate.token}
                  </span>
                  <Bar share={candidate.score} />
                  <span className="share">{percent(candidate.score)}</span>
                </button>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

interface JointProps {
  say: Say;
  result: FilledText;
  onChoose: (text: string) => void;
}

/** Fillings of all blanks together, each with where it comes from. */
export function JointCandidates({ say, result, onChoose }: JointProps) {
  if (result.joint.length === 0) return null;
  return (
    <section aria-labelledby="joint" className="together">
      <h3 id="joint">{say("joint")}</h3>
      <ol className="joint">
        {result.joint.map((candidate) => {
          const share = candidate.lexicon_score ?? candidate.score;
          const spans = result.masks.map((mask, at) => ({
            start: mask.start,
            end: mask.end,
            text: candidate.tokens[at] ?? "",
          }));
          return (
            <li key={`${candidate.source}-${candidate.text}`}>
              <button type="button" onClick={() => onChoose(candidate.text)}>
                <span className="unseen">{say("choose")}</span>
                <span className={`source ${candidate.source}`}>{say(`source.${candidate.source}`)}</span>
                <span className="token" lang="zh-CN">
                  <Pieces text={result.text} replacements={spans} />
                </span>
                <Bar share={share} />
                <span className="share">{percent(share)}</span>
              </button>
            </li>
          );
        })}
      </ol>
      <p className="help">{say("joint.help")}</p>
    </section>
  );
}

function Bar({ share }: { share: number }) {
  return (
    <span className="track" aria-hidden="true">
      <span style={{ width: `${Math.max(share * 100, 0.5)}%` }} />
    </span>
  );
}
