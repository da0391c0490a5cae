/** Names of the nodes of a wait-for graph in verdicts and reports. Pure. */
import type { WaitNode } from './agent-state.ts';

const words: Record<WaitNode['kind'], string> = {
  program: '',
  run: 'run ',
  step: 'step ',
  tool: 'tool ',
  'model-call': 'model call to ',
  request: 'request ',
  lock: 'lock ',
  promise: '',
  approval: 'approval ',
};

/** `run planner`, `lock db`. */
export function nodeText(node: WaitNode | undefined, id: string): string {
  return node ? `${words[node.kind]}${node.name}` : id;
}
