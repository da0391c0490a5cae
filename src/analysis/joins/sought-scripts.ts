/** The scripts that the capture kept because of what their text contains, for what is said to be the only place. */
import type { BundleParts } from '../bundle-parts.ts';
import type { SourceKind } from '../stacks/syntax-tree.ts';

export interface SoughtText {
  url: string;
  text: string;
  kind: SourceKind;
}

/** Undefined if what is looked for may also be elsewhere: a text is missing or cut, or there were too many of them. */
export function soughtTexts(
  { scripts }: BundleParts,
  readPart: (name: string) => Uint8Array | undefined,
): SoughtText[] | undefined {
  const texts: SoughtText[] = [];
  for (const { url, isModule, isExcerpt, sourcePart } of scripts.filter(({ isSought }) => isSought)) {
    const bytes = sourcePart === undefined || isExcerpt ? undefined : readPart(sourcePart);
    if (!bytes) return undefined;
    texts.push({
      url,
      text: Buffer.from(bytes).toString('utf8'),
      kind: isModule ? 'module' : 'commonjs',
    });
  }
  return texts.length ? texts : undefined;
}
