/** The top of the page: what happened, in one sentence; and below the code the evidence and what to do. */
import type { Account } from '../../../model/account.ts';
import { formatBytes, uptimeText } from '../../../model/quantities.ts';
import { testOf } from '../../../model/tests.ts';
import { traitsOf, type Verdict, type VerdictTraits } from '../../../model/verdict.ts';
import { Prose } from '../parts/prose.tsx';
import { Chip, Facts, PartTag, type Tone, When } from '../parts/small.tsx';

const tones: Record<VerdictTraits['nature'], Tone> = { death: 'bad', asked: 'good', unknown: 'warn' };

export function VerdictSection({ account }: { account: Account }) {
  const { verdict } = account;
  if (!verdict) return <WithoutVerdict account={account} />;
  const tone = tones[traitsOf(verdict.kind).nature];
  return (
    <div class={`headline tone-${tone}`}>
      <p class="kind">
        <Chip tone={tone}>{verdict.kind.replaceAll('-', ' ')}</Chip>
        <span class="confidence">{verdict.confidence}</span>
        <When at={account.bundle?.capturedAt} />
      </p>
      <h1 id="verdict-title" dir="auto">
        {verdict.title}
      </h1>
      <p class="summary" dir="auto">
        <Prose text={verdict.summary} />
      </p>
      <OfTest account={account} />
    </div>
  );
}

/** Below the code, so that the place is seen first, even on a small screen. */
export function EvidenceSection({ account }: { account: Account }) {
  const { verdict } = account;
  return (
    <>
      {verdict ? (
        <div class="proof">
          <div>
            <EvidenceList verdict={verdict} />
            <BeforeEnd verdict={verdict} />
          </div>
          <NextSteps verdict={verdict} />
        </div>
      ) : null}
      <About account={account} />
    </>
  );
}

/** Under a test runner: which test died, hung or failed. */
function OfTest({ account: { process } }: { account: Account }) {
  const tests = process?.test;
  const test = testOf(tests);
  const file = test?.file ?? tests?.file;
  if (!test && file === undefined) return null;
  return (
    <p class="of-test" dir="auto">
      Test {test ? <strong>{test.name.join(' › ')}</strong> : null}
      {file === undefined ? null : <code>{file}</code>}
      {tests?.runner === undefined ? null : <span>{tests.runner}</span>}
    </p>
  );
}

/** For a heap without a death, the first suspect is the result. */
function WithoutVerdict({ account: { memory } }: { account: Account }) {
  const [suspect] = memory?.suspects ?? [];
  return (
    <div class="headline">
      <h1 id="verdict-title">
        {memory?.heapUsedBytes === undefined
          ? 'No verdict'
          : `A heap of ${formatBytes(memory.heapUsedBytes)}`}
      </h1>
      {suspect ? <p class="summary">{suspect.sentence}</p> : null}
    </div>
  );
}

function About({ account: { process, memory, signature } }: { account: Account }) {
  const exit = process?.exit;
  const used = memory?.heapUsedBytes;
  const limit = memory?.heapLimitBytes;
  return (
    <Facts
      facts={[
        ['Lived', process && uptimeText(process)?.replace(/^up /, '')],
        ['Ended with', exit?.signal ?? (exit?.code === undefined ? undefined : `exit code ${exit.code}`)],
        ['Node', process?.nodeVersion?.replace(/^v/, '')],
        ['Process', process?.pid],
        ['Resident', memory?.rssBytes === undefined ? undefined : formatBytes(memory.rssBytes)],
        [
          'Heap',
          used === undefined ? undefined : `${formatBytes(used)}${limit ? ` of ${formatBytes(limit)}` : ''}`,
        ],
        ['Signature', signature && <code title="The same fault has the same signature">{signature.id}</code>],
      ]}
    />
  );
}

function EvidenceList({ verdict }: { verdict: Verdict }) {
  return (
    <div class="evidence">
      <h2>Evidence</h2>
      <ul>
        {verdict.evidence.map(({ fact, part }, n) => (
          <li key={n} dir="auto">
            <Prose text={fact} /> <PartTag part={part} />
          </li>
        ))}
      </ul>
      {(verdict.alternatives ?? []).map(({ kind, title, confidence }) => (
        <p key={kind} class="alternative">
          Also {confidence}: <strong>{kind.replaceAll('-', ' ')}</strong>. {title}
        </p>
      ))}
      <p class="refuted">
        <strong>Refuted by</strong> <Prose text={verdict.refutedBy} />
      </p>
    </div>
  );
}

function BeforeEnd({ verdict: { beforeEnd = [] } }: { verdict: Verdict }) {
  if (!beforeEnd.length) return null;
  return (
    <div class="evidence">
      <h2>Before the end</h2>
      <ul>
        {beforeEnd.map(({ fact, part }, n) => (
          <li key={n} dir="auto">
            <Prose text={fact} /> <PartTag part={part} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function NextSteps({ verdict: { nextSteps } }: { verdict: Verdict }) {
  if (!nextSteps.length) return null;
  return (
    <div class="next">
      <h2>What to do next</h2>
      <ol>
        {nextSteps.map((step, n) => (
          <li key={n} dir="auto">
            <Prose text={step} />
          </li>
        ))}
      </ol>
    </div>
  );
}
