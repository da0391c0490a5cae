/** Redacts and writes parts about another process, and counts the redactions. */
import { type LoadedScript, partNames } from '../../bundle/layout/bundle.ts';
import type { BundleWriter } from '../../bundle/write/writer.ts';
import type { ScriptParsed } from '../../capture/host/inspector-session.ts';
import { findPackages } from '../../capture/parts/packages.ts';
import { describeScripts, type ScriptsContext } from '../../capture/parts/scripts.ts';
import { redactSourceMap } from '../../capture/stacks/redact-source-map.ts';
import { addFrames } from '../../capture/stacks/script-excerpt.ts';
import { preloadFile } from '../arm.ts';
import type { Answers } from '../attach/interview.ts';
import type { viewProcess } from '../evidence/proc-view.ts';
import type { Scrubber } from './scrubber.ts';

export class ScrubbedParts {
  readonly bundle: BundleWriter;
  readonly #scrubber: Scrubber;

  constructor(bundle: BundleWriter, scrubber: Scrubber) {
    this.bundle = bundle;
    this.#scrubber = scrubber;
  }

  readonly clean = (text: string): string => this.#scrubber.text(text);

  write(name: string, value: unknown): void {
    this.writeText(name, JSON.stringify(this.#scrubber.value(value)));
  }

  /** `text` must be redacted already. */
  writeText(name: string, text: string): boolean {
    const written = this.bundle.writePart(name, text);
    this.bundle.countRedactions(name, this.#scrubber.counts());
    this.#scrubber.resetCounts();
    return written;
  }

  /** The pieces must be redacted already. */
  writePieces(name: string, pieces: Iterable<Uint8Array>): void {
    const part = this.bundle.openPart(name);
    for (const piece of pieces) part.write(piece);
    part.close();
    this.bundle.countRedactions(name, this.#scrubber.counts());
    this.#scrubber.resetCounts();
  }

  writeProcess(
    pid: number,
    seen: ReturnType<typeof viewProcess>,
    { facts, at }: Pick<Answers, 'facts' | 'at'>,
  ): void {
    const argv = this.#scrubber.argv(facts?.process.argv ?? seen.argv);
    const startedAt = facts && new Date(at - facts.process.uptimeMs).toISOString();
    this.write(partNames.process, {
      pid,
      ...seen,
      ...facts?.process,
      argv,
      threadId: 0,
      ...(startedAt && { startedAt }),
    });
  }

  writeScripts(
    scripts: ScriptParsed[],
    sources: Map<string, string>,
    { stack, suspended, workers }: Pick<Answers, 'stack' | 'suspended' | 'workers'>,
  ): void {
    const frames = [...(stack?.frames ?? []), ...workers.flatMap((worker) => worker.frames)];
    const context: ScriptsContext = {
      ownFile: preloadFile,
      stackTexts: suspended?.stacks ?? [],
      framePlaces: addFrames(new Map(), frames),
      scriptUrls: [],
      writeCode: (name, text) => this.writeText(name, this.#scrubber.code(text)),
      writeSourceMap: (name, text) => this.writeText(name, redactSourceMap(text, this.#scrubber)),
    };
    const self = { scripts, sourceOf: (id: string) => sources.get(id) };
    const described: LoadedScript[] = describeScripts(self, context);
    this.write(partNames.scripts, { scripts: described });
    const addGap = (part: string, reason: string) => this.bundle.addGap({ part, reason });
    this.write(partNames.packages, { packages: findPackages({ scriptUrls: context.scriptUrls, addGap }) });
  }
}
