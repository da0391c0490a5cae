/** Text like that in a bundle, without secrets, for speed tests: journal lines, stacks, source, prose, JSON of any depth. */
import { fillTemplate, SeededRandom } from './seeded-random.ts';

const words =
  `the agent calls a tool and waits for its result then it writes what it learned to the journal before the next step
  request response model message content system user assistant file path error stack value list count time total`.split(
    /\s+/,
  );

/** About `bytes` characters of ASCII, the same for each seed. */
export function makeSampleText(seed: number, bytes: number): string {
  const random = new SeededRandom(seed);
  const sentence = (n: number): string => Array.from({ length: n }, () => random.pick(words)).join(' ');
  const makers: (() => string)[] = [
    () =>
      JSON.stringify({
        ts: `2026-11-21T03:04:${10 + random.below(49)}.${100 + random.below(899)}Z`,
        level: random.pick(['info', 'debug', 'warn']),
        traceId: fillTemplate('{h32}', random),
        msg: sentence(6 + random.below(12)),
        durationMs: random.below(10_000),
        usage: { input_tokens: random.below(9000), output_tokens: random.below(900) },
      }),
    () =>
      `    at ${random.pick(words)}.${random.pick(words)} (file:///app/src/${random.pick(words)}/${random.pick(words)}.ts:${random.below(900)}:${random.below(90)})`,
    () =>
      `  const ${random.pick(words)} = await ${random.pick(words)}.${random.pick(words)}({ id: '${fillTemplate('{a8}', random)}', limit: ${random.below(99)} });`,
    () => `${sentence(12 + random.below(20))}.`,
    () =>
      JSON.stringify({
        role: 'assistant',
        content: [{ type: 'text', text: `${sentence(20)}\n\n${sentence(30)} "${sentence(4)}"` }],
        tool_calls: [
          {
            id: fillTemplate('call_{A24}', random),
            function: {
              name: random.pick(words),
              arguments: JSON.stringify({ path: `/srv/${random.pick(words)}`, query: sentence(3) }),
            },
          },
        ],
      }),
    () =>
      `GET https://api.example.com/v1/${random.pick(words)}?page=${random.below(90)}&sort=${random.pick(words)} 200 ${random.below(400)}ms`,
  ];
  let out = '';
  while (out.length < bytes) out += `${random.pick(makers)()}\n`;
  return out;
}
