/** Notations that were collected before their rules were written: how many secrets are found, and what must stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor, redact } from '../../../src/redaction/index.ts';
import { makeAgentIds, makeFormLookAlikes } from '../../support/secrets/form-look-alikes.ts';
import { makeForms } from '../../support/secrets/secret-forms.ts';
import { scoreCorpus } from '../../support/secrets/secret-score.ts';

const items = makeForms(41);

test('at least 97 % of the secrets in some 240 forms are found', () => {
  for (const { right, total, wrong } of scoreCorpus(items, (text) => redact(text)).values()) {
    assert.ok(total > 800, String(total));
    assert.ok(right / total >= 0.97, wrong.map(({ item, output }) => `${item.label}: ${output}`).join('\n'));
  }
});

test('what only looks like a form stays', () => {
  const changed = makeFormLookAlikes(41).filter((text) => redact(text) !== text);
  assert.deepEqual(changed, []);
});

test('ids of agents and model providers stay: one in ten thousand may be taken for a token', () => {
  const texts = makeAgentIds(41, 100);
  const changed = texts.filter((text) => redact(text) !== text);
  assert.ok(changed.length * 10_000 <= texts.length * 2, changed.slice(0, 5).join('\n'));
});

test('JSON stays JSON in every form', () => {
  for (const { text } of items)
    if (isJson(text)) assert.ok(isJson(redact(text)), `${text} → ${redact(text)}`);
});

test('redacting twice changes nothing more', () => {
  for (const { text, label } of items) assert.equal(redact(redact(text)), redact(text), label);
});

test('all forms in one stream, at chunk sizes from 1 to 4,096', () => {
  const text = items.map((item) => item.text).join('\n\n');
  const whole = redact(text);
  for (const size of [1, 2, 7, 64, 1000, 4096]) {
    const redactor = createRedactor();
    let out = '';
    for (let i = 0; i < text.length; i += size) out += redactor.write(text.slice(i, i + size));
    assert.ok(out + redactor.end() === whole, `chunks of ${size}`);
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
