/**
 * The thread of `readHeapApart`: reads the heap of a dead process from a copy of its memory, or from a core, and redacts it.
 */
import { parentPort } from 'node:worker_threads';
import { CopiedMemory, type CoreBytes } from '../../../supervise/native/copied-memory.ts';
import { learnWords } from '../../../supervise/native/core-part.ts';
import type { HeapAnswer, HeapSource } from '../../../supervise/native/full-heap.ts';
import { isSealed, unseal } from '../../../supervise/native/sealed-copy.ts';
import { GraphMembers } from '../../../supervise/scrub/heap-members.ts';
import { makeScrubber } from '../../../supervise/scrub/scrubber.ts';
import { readHeap } from '../core-digest.ts';

interface Question {
  source: HeapSource;
  words: readonly string[];
}

async function read({ source, words }: Question): Promise<HeapAnswer> {
  const scrubber = makeScrubber(process.env);
  learnWords(words, scrubber);
  scrubber.resetCounts();
  const members = new GraphMembers(scrubber, (member) => {
    // A copy, because a small member shares its memory with others.
    const own = new Uint8Array(member);
    parentPort?.postMessage(own, [own.buffer]);
  });
  const { text, gaps } = await readHeap(coreOf(source), members);
  for await (const piece of text) await members.write(piece);
  await members.end();
  return { counts: scrubber.counts(), gaps };
}

function coreOf(source: HeapSource): CoreBytes | string {
  if (typeof source === 'string') return source;
  return new CopiedMemory(isSealed(source) ? unseal(source) : source);
}

parentPort?.once('message', async (question: Question) => {
  try {
    parentPort?.postMessage(await read(question));
  } catch (error) {
    parentPort?.postMessage(error instanceof Error ? error.message : String(error));
  }
});
