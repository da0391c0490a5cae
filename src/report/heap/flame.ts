/** Flame graphs: frames with weights as folded stacks (flamegraph.pl, inferno) or as a speedscope file. */
import { harmlessJson } from '../json.ts';

export interface Frame {
  name: string;
  /** Row of the frame above, -1 for a top frame; always before its children. */
  parent: number;
  bytes: number;
}

/** Brendan Gregg's folded stacks: `a;b;c 123`, one line per frame that has bytes of its own. */
export function renderFolded(frames: readonly Frame[]): string {
  const stacks: string[] = [];
  const lines: string[] = [];
  for (const [row, { name, parent, bytes }] of frames.entries()) {
    const own = name.replace(/[;\s]+/g, ' ');
    stacks[row] = parent < 0 ? own : `${stacks[parent]};${own}`;
    if (bytes > 0) lines.push(`${stacks[row]} ${Math.round(bytes)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources: a sampled profile, weights in bytes. */
export function renderSpeedscope(frames: readonly Frame[], name: string): string {
  const numbers = new Map<string, number>();
  const numberOf = (frame: string): number => {
    const known = numbers.get(frame) ?? numbers.size;
    numbers.set(frame, known);
    return known;
  };
  const stacks: number[][] = [];
  const samples: number[][] = [];
  const weights: number[] = [];
  for (const [row, { name: frame, parent, bytes }] of frames.entries()) {
    stacks[row] = [...(parent < 0 ? [] : stacks[parent]!), numberOf(frame)];
    if (bytes <= 0) continue;
    samples.push(stacks[row]!);
    weights.push(bytes);
  }
  const document = {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    name,
    exporter: 'agentdump',
    activeProfileIndex: 0,
    shared: { frames: [...numbers.keys()].map((frame) => ({ name: frame })) },
    profiles: [
      {
        type: 'sampled',
        name,
        unit: 'bytes',
        startValue: 0,
        endValue: weights.reduce((a, b) => a + b, 0),
        samples,
        weights,
      },
    ],
  };
  return `${harmlessJson(JSON.stringify(document))}\n`;
}
