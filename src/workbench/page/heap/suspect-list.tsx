/** Leak suspects, each with its explanation and evidence. */
import type { HeapSuspect } from '../../../model/heap.ts';

interface SuspectListProps {
  suspects: readonly HeapSuspect[];
  hrefOf: (id: number) => string;
  /** The text for an empty list. */
  nothing: string;
}

export function SuspectList({ suspects, hrefOf, nothing }: SuspectListProps) {
  if (!suspects.length) return <p class="faint">{nothing}</p>;
  return (
    <ol class="suspect-list">
      {suspects.map(({ title, sentence, confidence, evidence, refutedBy, rule, node, growth }, n) => (
        <li key={n}>
          <h3>
            {node ? (
              <a href={hrefOf(node.id)} data-item>
                {title}
              </a>
            ) : (
              title
            )}{' '}
            <span class="chip">{growth ? 'growth not known' : confidence}</span>
          </h3>
          <p>{sentence}</p>
          <details>
            <summary>Evidence by the rule {rule}</summary>
            <ul class="plain-list">
              {evidence.map((fact) => (
                <li key={fact}>{fact}</li>
              ))}
              <li>Refuted by: {refutedBy}</li>
            </ul>
          </details>
        </li>
      ))}
    </ol>
  );
}
