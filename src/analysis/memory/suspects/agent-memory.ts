/**
 * Recognises an agent's objects in a heap by their shape: messages and the arrays that contain them, tool results and their
 * tools, documents, embeddings. Shapes: OpenAI (`role`, `content`, `tool_calls`, `tool_call_id`), Anthropic (`tool_use`,
 * `tool_use_id`), AI SDK (`parts`, `toolCallId`, `toolName`), Google (`functionResponse`), LangChain (message and Document
 * classes). Only property names decide, and values are only used as names, because a redacted snapshot has no values.
 */
import { EdgeType, NodeType } from '../../../formats/heapsnapshot/index.ts';
import type { Heap } from '../heap.ts';
import { elementNodes, kindOf } from '../questions/heap-value.ts';
import { findChild, forEachNamed, isStringType, stringText } from '../questions/node-rows.ts';
import { type MarkedName, markedObjects, markOf } from './marked-objects.ts';

export interface ToolSums {
  tool: string;
  count: number;
  retainedSizeBytes: number;
  largest: number;
}

export interface Conversation {
  /** The array. */
  node: number;
  messages: number;
  /** The array and its messages; each message is counted with the first array that contains it. */
  bytes: number;
}

export interface AgentMemory {
  conversations: Conversation[];
  messageCount: number;
  toolResults: ToolSums[];
  documents: number[];
  embeddings: { kind: string; count: number; bytes: number; dimensions: number; example: number }[];
}

const messageClass = /^(Human|AI|System|Tool|Function|Chat|Generic)Message(Chunk)?$/;
const toolMessageClass = /^ToolMessage/;
/** An object with none of these properties and no message class can't be a message, tool result or document. */
const tellingWords: readonly MarkedName[] = [
  'role',
  'tool_call_id',
  'tool_use_id',
  'toolCallId',
  'functionResponse',
  'pageContent',
  'page_content',
];
const minMessages = 3;
const smallestEmbedding = 128;
const largestEmbedding = 16_384;
/** Elements start with a map and a length. */
const smallestArray = 16 + 8 * smallestEmbedding;

const known = new WeakMap<Heap, AgentMemory>();

export function computeAgentMemory(heap: Heap): AgentMemory {
  const found = known.get(heap) ?? (mayHaveAgent(heap) ? new Finder(heap).find() : withoutAgent(heap));
  known.set(heap, found);
  return found;
}

/** Most programs have no agent; then their edges aren't searched. */
function mayHaveAgent({ snapshot, classes }: Heap): boolean {
  return (
    tellingWords.some((word) => snapshot.strings.findAscii(word) >= 0) ||
    classes.kinds.some(({ name }) => messageClass.test(name) || toolMessageClass.test(name))
  );
}

const withoutAgent = (heap: Heap): AgentMemory => ({
  conversations: [],
  messageCount: 0,
  toolResults: [],
  documents: [],
  embeddings: findEmbeddings(heap),
});

class Finder {
  readonly #heap: Heap;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  find(): AgentMemory {
    const messages = this.#nodes((node, bits) => this.#isMessage(node, bits));
    return {
      conversations: this.#conversations(new Set(messages)),
      messageCount: messages.length,
      toolResults: this.#toolResults(),
      documents: this.#nodes(
        (_, bits) =>
          (bits & markOf('metadata')) !== 0 && (bits & markOf('pageContent', 'page_content')) !== 0,
      ),
      embeddings: findEmbeddings(this.#heap),
    };
  }

  #nodes(wanted: (node: number, bits: number) => boolean): number[] {
    const { nodes, bits } = markedObjects(this.#heap);
    return nodes.filter((node, at) => wanted(node, bits[at]!));
  }

  #isMessage(node: number, bits: number): boolean {
    if (bits & markOf('role') && bits & markOf('content', 'parts', 'tool_calls')) return true;
    return (
      (bits & markOf('lc_kwargs', 'content')) !== 0 && messageClass.test(this.#heap.snapshot.nodeName(node))
    );
  }

  #isToolResult(node: number, bits: number): boolean {
    if (bits & markOf('tool_call_id', 'tool_use_id', 'functionResponse')) return true;
    if (bits & markOf('toolCallId') && bits & markOf('output', 'result')) return true;
    return (bits & markOf('content')) !== 0 && toolMessageClass.test(this.#heap.snapshot.nodeName(node));
  }

  /** Arrays in which at least half of the objects are messages. */
  #conversations(messages: Set<number>): Conversation[] {
    if (messages.size < minMessages) return [];
    const { retainers, snapshot, retained } = this.#heap;
    const arrays = new Set<number>();
    for (const message of messages)
      for (const edge of retainers.to(message))
        if (snapshot.edgeType(edge) === EdgeType.element) arrays.add(retainers.sourceOf(edge));
    const counted = new Set<number>();
    const conversations: Conversation[] = [];
    for (const node of [...arrays].sort((a, b) => retained[b]! - retained[a]!)) {
      if (snapshot.nodes.type[node] !== NodeType.object) continue;
      const elements = elementNodes(this.#heap, node);
      const own = elements.filter((element) => messages.has(element));
      if (own.length < minMessages || own.length * 2 < elements.length) continue;
      let bytes = this.#heap.selfSize.get(node);
      for (const message of own) {
        if (!counted.has(message)) bytes += retained[message]!;
        counted.add(message);
      }
      conversations.push({ node, messages: own.length, bytes });
    }
    return conversations.sort((a, b) => b.bytes - a.bytes);
  }

  #toolResults(): ToolSums[] {
    const results = this.#nodes((node, bits) => this.#isToolResult(node, bits));
    if (!results.length) return [];
    const isResult = new Set(results);
    const tools = this.#toolNames();
    const sums = new Map<string, ToolSums>();
    for (const node of results) {
      if (this.#isBelow(node, isResult)) continue;
      const tool = this.#toolOf(node, tools);
      const sum = sums.get(tool) ?? { tool, count: 0, retainedSizeBytes: 0, largest: node };
      sum.count++;
      sum.retainedSizeBytes += this.#heap.retained[node]!;
      if (this.#heap.retained[node]! > this.#heap.retained[sum.largest]!) sum.largest = node;
      sums.set(tool, sum);
    }
    return [...sums.values()].sort((a, b) => b.retainedSizeBytes - a.retainedSizeBytes);
  }

  /** A result inside another result counts once. */
  #isBelow(node: number, others: Set<number>): boolean {
    let at = node;
    for (let step = 0; step < 8; step++) {
      const up = this.#heap.tree.dominator[at]!;
      if (up === at) return false;
      if (others.has(up)) return true;
      at = up;
    }
    return false;
  }

  /** Tool names by call id. */
  #toolNames(): Map<string, string> {
    const names = new Map<string, string>();
    const note = (id: string, name: string): void => {
      if (id && name) names.set(id, name);
    };
    const calls = this.#nodes(
      (_, bits) =>
        ((bits & markOf('id')) !== 0 && (bits & markOf('function', 'input')) !== 0) ||
        (bits & markOf('toolCallId', 'toolName')) === markOf('toolCallId', 'toolName'),
    );
    for (const node of calls) {
      const details = findChild(this.#heap, node, 'function', EdgeType.property);
      const name = details < 0 ? this.#text(node, 'name') : this.#text(details, 'name');
      note(this.#text(node, 'id'), name);
      note(this.#text(node, 'toolCallId'), this.#text(node, 'toolName'));
    }
    return names;
  }

  #toolOf(node: number, tools: Map<string, string>): string {
    const id = ['tool_call_id', 'tool_use_id', 'toolCallId']
      .map((name) => this.#text(node, name))
      .find(Boolean);
    const response = findChild(this.#heap, node, 'functionResponse', EdgeType.property);
    return (
      this.#text(node, 'toolName') ||
      (id !== undefined && tools.get(id)) ||
      (response >= 0 ? this.#text(response, 'name') : this.#text(node, 'name')) ||
      '(unnamed tool)'
    );
  }

  #text(node: number, property: string): string {
    return textProperty(this.#heap, node, property);
  }
}

/** The text of a string property; empty if it is absent or not a string. */
export function textProperty(heap: Heap, node: number, property: string): string {
  const child = findChild(heap, node, property, EdgeType.property);
  return child >= 0 && isStringType(heap.snapshot.nodes.type[child]!) ? stringText(heap, child, 200) : '';
}

/** Number vectors by length: typed arrays, and plain arrays whose elements are unboxed doubles. */
function findEmbeddings(heap: Heap): AgentMemory['embeddings'] {
  const { type } = heap.snapshot.nodes;
  const groups = new Map<string, AgentMemory['embeddings'][number]>();
  const take = (node: number): void => {
    const found = vectorOf(heap, node);
    if (!found || found.dimensions < smallestEmbedding || found.dimensions > largestEmbedding) return;
    const key = `${found.kind} ${found.dimensions}`;
    const group = groups.get(key) ?? { ...found, count: 0, bytes: 0, example: node };
    group.count++;
    group.bytes += found.bytes;
    groups.set(key, group);
  };
  for (const kind of ['Array', 'Float32Array', 'Float64Array'])
    forEachNamed(heap, kind, (node) => {
      if (type[node] === NodeType.object) take(node);
    });
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
}

function vectorOf(heap: Heap, node: number): { kind: string; dimensions: number; bytes: number } | undefined {
  const { snapshot } = heap;
  const name = snapshot.nodeName(node);
  if (name === 'Float32Array' || name === 'Float64Array') {
    const buffer = findChild(heap, node, 'buffer', EdgeType.internal);
    const store = buffer < 0 ? -1 : findChild(heap, buffer, 'backing_store', EdgeType.internal);
    const bytes = store < 0 ? 0 : snapshot.nodes.selfSize.get(store);
    return {
      kind: name,
      dimensions: bytes / (name === 'Float32Array' ? 4 : 8),
      bytes: bytes + heap.selfSize.get(node),
    };
  }
  if (name !== 'Array' || snapshot.nodes.firstEdge[node + 1]! - snapshot.nodes.firstEdge[node]! > 4)
    return undefined;
  const elements = findChild(heap, node, 'elements', EdgeType.internal);
  if (elements < 0 || snapshot.nodes.selfSize.narrow[elements]! < smallestArray) return undefined;
  if (kindOf(heap, node) !== 'array') return undefined;
  // Doubles have no edges; elements with edges contain other things, or holes.
  if (snapshot.nodes.firstEdge[elements + 1]! - snapshot.nodes.firstEdge[elements]! > 1) return undefined;
  const bytes = snapshot.nodes.selfSize.get(elements);
  return { kind: name, dimensions: (bytes - 16) / 8, bytes: heap.selfSize.get(node) };
}
