import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAgentRecords } from '../../src/analysis/agent/events.ts';
import { computePointDiff } from '../../src/analysis/agent/point-diff.ts';
import { plainPalette } from '../../src/report/palette.ts';
import { renderPointDiff } from '../../src/report/text/agent-points.ts';
import { messageText } from '../../src/report/text/message-text.ts';
import { renderConversation } from '../../src/report/text/value.ts';

const parts = [
  { type: 'reasoning', content: 'It is late.' },
  { type: 'text', content: 'Let me look.' },
  { type: 'tool_call', id: 'call_1', name: 'search', arguments: { city: 'Oslo' } },
];

test('parts of a message read as what they are', () => {
  assert.equal(messageText('Hello'), 'Hello');
  assert.equal(messageText(parts), '(thinking) It is late.  Let me look.  calls search({"city":"Oslo"})');
  assert.equal(messageText([{ type: 'tool_call_response', id: 'call_1', response: 'snow' }]), 'result: snow');
  assert.equal(messageText([{ type: 'input_text', text: 'of another shape' }]), 'of another shape');
  assert.equal(
    messageText([null, 7, { type: 'blob', mime: 'x/y' }]),
    'null  7  {"type":"blob","mime":"x/y"}',
  );
  assert.equal(messageText(undefined), '');
});

test('they do so on the page of a death and in what was said between two points', () => {
  const page = { palette: plainPalette, columns: 100 };
  assert.deepEqual(renderConversation([{ role: 'assistant', content: parts }], page), [
    'assistant  (thinking) It is late.  Let me look.  calls search({"city":"Oslo"})',
  ]);
  const story = readAgentRecords([
    { seq: 1, at: 1000, kind: 'message', message: 'm1', role: 'assistant', parts },
    {
      seq: 2,
      at: 2000,
      kind: 'model.start',
      call: 'c1',
      conversation: { keep: 0, add: ['m1'] },
      attributes: { 'gen_ai.request.model': 'gpt' },
    },
  ]);
  const text = renderPointDiff(computePointDiff(story, '1', '2'));
  assert.match(text, /^the program \(it named no run\) began$/m);
  assert.match(text, /^ {2}assistant {2}\(thinking\) It is late\. {2}Let me look\. {2}calls search/m);
});
