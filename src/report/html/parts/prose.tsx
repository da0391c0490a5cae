/**
 * Text with the few marks that people and models use: fenced code, `code` and **strong**. No other Markdown, no links, no
 * markup: everything else is shown as it was written.
 */
import { Fragment } from 'preact';

const fence = /^```[^\n]*\n([\s\S]*?)(?:^```[^\S\n]*$|$(?![\s\S]))/gm;
const inline = /`([^`\n]+)`|\*\*([^*\n]+)\*\*/g;

export function Prose({ text }: { text: string }) {
  return (
    <>
      {splitBy(text, fence).map(({ plain, found }, n) => (
        <Fragment key={n}>
          {plain === '' ? null : <Inline text={plain} />}
          {found ? <pre class="fenced">{found[1]}</pre> : null}
        </Fragment>
      ))}
    </>
  );
}

function Inline({ text }: { text: string }) {
  return (
    <>
      {splitBy(text, inline).map(({ plain, found }, n) => (
        <Fragment key={n}>
          {plain}
          {found?.[1] ? <code class="inline-code">{found[1]}</code> : null}
          {found?.[2] ? <strong>{found[2]}</strong> : null}
        </Fragment>
      ))}
    </>
  );
}

/** The text before each match, with the match; at the end the rest. */
function splitBy(text: string, pattern: RegExp): { plain: string; found?: RegExpMatchArray }[] {
  const pieces: { plain: string; found?: RegExpMatchArray }[] = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    pieces.push({ plain: text.slice(at, found.index), found });
    at = found.index + found[0].length;
  }
  pieces.push({ plain: text.slice(at) });
  return pieces;
}
