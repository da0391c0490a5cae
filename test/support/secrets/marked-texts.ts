/** Texts in which a mark says what must be withheld, and texts that must stay, tried alone and in a long text. */
import assert from 'node:assert/strict';
import { redact } from '../../../src/redaction/index.ts';

/** Long enough for the walk in WebAssembly. */
const padding = 'The build of this branch is done, see the notes below.\n'.repeat(200);

/** Texts with the secret between `‹` and `›`: it goes, and everything else stays, in short and in long texts. */
export function withholds(texts: string[]): void {
  for (const marked of texts)
    for (const around of ['', padding]) {
      const [before = '', rest = ''] = `${around}${marked}\n${around}`.split('‹');
      const [secret = '', behind = ''] = rest.split('›');
      const shown = redact(before + secret + behind);
      const hidden = shown.slice(before.length, shown.length - behind.length);
      assert.ok(shown.startsWith(before) && shown.endsWith(behind) && !hidden.includes(secret), marked);
      assert.match(hidden, /^"?\[redacted:[a-z-]+#[0-9a-f]{8}\]"?$/, marked);
    }
}

export function keeps(texts: string[]): void {
  for (const text of texts)
    for (const around of ['', padding])
      assert.equal(redact(`${around}${text}\n${around}`), `${around}${text}\n${around}`);
}
