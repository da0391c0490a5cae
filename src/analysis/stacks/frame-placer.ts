/**
 * Finds where one stack frame is in the source: through the script's source map, or as the host printed it, or where the code
 * ran. Adds the code around it and whether it is the program's own code. A map that gives an impossible answer is distrusted
 * for all frames, and the caller places the stack again.
 */
import type { RawFrame } from '../../bundle/layout/bundle.ts';
import { type EvalOrigin, filePathOf, type TextPosition } from '../../formats/stack-text/location.ts';
import type { Frame } from '../../model/thread.ts';
import { isMoved, type JoinedFrame } from './align.ts';
import { cutCodeFrame } from './code-frame.ts';
import { displayName } from './function-names.ts';
import { isInApp } from './in-app.ts';
import { askMap, hasPlace } from './lookup.ts';
import { findMisfitNear } from './map-fit.ts';
import type { PlacedFrame } from './placed-frame.ts';
import type { ScriptMap, ScriptText } from './script-text.ts';
import type { ScriptIndex } from './scripts.ts';

interface Position {
  file: string;
  line: number;
  column: number;
}

export class FramePlacer {
  private readonly scripts: ScriptIndex;
  private readonly appRoot: string | undefined;
  private readonly contextLines: number;
  /** Whether the host prints positions that it has already mapped; undefined until a stack has shown it. */
  hostMaps: boolean | undefined;

  constructor(scripts: ScriptIndex, appRoot: string | undefined, contextLines: number) {
    this.scripts = scripts;
    this.appRoot = appRoot;
    this.contextLines = contextLines;
  }

  /** `isOfDebugger`: printed positions are those of the code that ran. */
  async place(joined: JoinedFrame, isOfDebugger = false): Promise<PlacedFrame> {
    const { text, raw } = joined;
    const name = text?.functionName ?? (text ? undefined : raw?.functionName || undefined);
    const frame: Frame = { inApp: false, trust: raw ? 'inspector' : 'stack-text' };
    const display = displayName(joined);
    if (display) frame.function = display;
    if (text?.async) frame.async = true;
    const placed: PlacedFrame = { joined, frame, ...(name ? { name } : {}) };
    const location = text?.location;
    if (location?.kind === 'wasm') {
      frame.module = location.module;
      if (location.offset !== undefined) frame.address = `0x${location.offset.toString(16)}`;
    } else if (raw && raw.url !== '') await this.placeRaw(placed, raw);
    else if (location?.kind === 'source')
      await this.placePrinted(placed, location.position, text?.mapped, isOfDebugger);
    else if (location?.kind === 'eval')
      await this.placeEval(placed, location.origins, location.position ?? raw);
    return placed;
  }

  private async placeRaw(placed: PlacedFrame, raw: RawFrame): Promise<void> {
    const { frame } = placed;
    if (raw.url.startsWith('wasm://')) {
      frame.module = raw.url;
      frame.address = `0x${(raw.column - 1).toString(16)}`;
      return;
    }
    const generated = { file: filePathOf(raw.url), line: raw.line, column: raw.column };
    const printed = placed.joined.text?.location;
    const moved = isMoved(placed.joined) && printed?.kind === 'source' ? printed.position : undefined;
    if (await this.mapPosition(placed, raw.url, generated, raw.scriptId)) {
      // The map changes this position, but it was printed unmapped, so the host doesn't map its stacks.
      if (placed.map && printed?.kind === 'source' && !moved) this.hostMaps ??= false;
    } else if (moved) {
      await this.trustPrinted(placed, moved);
      frame.generated = generated;
    } else this.stay(placed, generated);
  }

  private async placePrinted(
    placed: PlacedFrame,
    position: TextPosition,
    mappedByHost: TextPosition | undefined,
    isOfDebugger: boolean,
  ): Promise<void> {
    const generated = { ...position, column: position.column ?? 1 };
    const isMapped = !mappedByHost && !isOfDebugger && (this.hostMaps ?? (await this.isSource(position)));
    if (!isMapped && (await this.mapPosition(placed, position.url ?? position.file, generated))) return;
    if (isMapped || mappedByHost) await this.trustPrinted(placed, mappedByHost ?? position);
    else this.stay(placed, generated, position.column !== undefined);
    if (mappedByHost) placed.frame.generated = pickPosition(generated);
  }

  /** A frame inside evaluated code is shown at the call of eval, unless the evaluated code has a source map. */
  private async placeEval(
    placed: PlacedFrame,
    origins: readonly EvalOrigin[],
    inner: { line: number; column?: number; file?: string } | undefined,
  ): Promise<void> {
    const own = inner && { file: inner.file ?? '<anonymous>', line: inner.line, column: inner.column ?? 1 };
    if (own && own.file !== '<anonymous>' && (await this.mapPosition(placed, own.file, own))) return;
    const outer = origins.findLast((origin) => origin.file !== undefined && origin.line !== undefined);
    if (!outer?.file || !outer.line) return;
    const caller = { file: outer.file, line: outer.line, column: outer.column ?? 1 };
    if (this.hostMaps || !(await this.mapPosition(placed, outer.url ?? outer.file, caller)))
      this.stay(placed, caller);
    if (own) placed.frame.generated = own;
    // The name belongs to the evaluated code, so it must not be looked up in the caller's map.
    delete placed.map;
  }

  /**
   * Learns from the printed positions whether the host has mapped them. Loaders that compile in memory give a script the path of its
   * own source: a position that only one of the two texts has shows which one is meant.
   */
  async learnHost(frames: readonly JoinedFrame[]): Promise<void> {
    for (const { text } of frames) {
      if (this.hostMaps !== undefined) return;
      if (text?.location.kind !== 'source' || text.mapped) continue;
      const { position } = text.location;
      const own = await this.findOwnSource(position);
      if (!own) continue;
      const place = { line: position.line, column: position.column ?? 1 };
      if (own.lines && !hasPlace(own.lines, place)) this.hostMaps = false;
      else if (own.running && lacksPlace(own.running, place)) this.hostMaps = true;
    }
  }

  /**
   * Whether a printed position is in a source file, and so already mapped: a file that was not loaded as a script or, with
   * loaders that compile in memory, a script with the same path as its own source.
   */
  private async isSource(position: TextPosition): Promise<boolean> {
    if (!this.scripts.find(position.url ?? position.file)) return isInApp(position.file, this.appRoot);
    return (await this.findOwnSource(position)) !== undefined;
  }

  /** The texts of a script that has the path of its own source. */
  private async findOwnSource(
    position: TextPosition,
  ): Promise<{ lines?: readonly string[]; running?: readonly string[] } | undefined> {
    const script = this.scripts.find(position.url ?? position.file);
    const map = script && (await this.scripts.mapOf(script));
    const source = map?.reader.sources.find((one) => map.pathOf(one) === position.file);
    if (!map || source === undefined) return undefined;
    const lines = map.linesOf(source) ?? map.diskLinesOf(source);
    const running = this.scripts.textOf(script)?.lines;
    return { ...(lines && { lines }), ...(running && { running }) };
  }

  /** Sets the original position; false if there is no trustworthy map. */
  private async mapPosition(
    placed: PlacedFrame,
    url: string,
    generated: Position,
    scriptId?: string,
  ): Promise<boolean> {
    const script = this.scripts.find(url, scriptId);
    if (!script) return false;
    const text = this.scripts.textOf(script);
    if (text) placed.text = text;
    const map = await this.scripts.mapOf(script);
    if (!map) return false;
    const answer = askMap(map, text, generated);
    if (answer.kind === 'unknown') return false;
    if (answer.kind === 'generated') {
      this.stay(placed, generated);
      // Code without a source was added by the bundler.
      placed.frame.inApp = false;
      return true;
    }
    const { original, lines } = answer;
    const file = map.pathOf(original.source);
    placed.map = map;
    Object.assign(placed.frame, { file, line: original.line, column: original.column });
    placed.frame.generated = pickPosition(generated);
    placed.frame.inApp = isInApp(file, this.appRoot);
    const shown = lines ?? diskLines(map, text, generated, original);
    if (shown) {
      placed.sourceLines = shown;
      this.addCode(placed.frame, shown);
    }
    return true;
  }

  /** The host has mapped the printed position, so it is a position in the source. */
  private async trustPrinted(placed: PlacedFrame, position: TextPosition): Promise<void> {
    this.stay(placed, { ...position, column: position.column ?? 1 }, position.column !== undefined);
    const lines = await this.scripts.findSourceLines(position.file);
    delete placed.frame.source;
    if (lines) this.addCode(placed.frame, lines);
  }

  /** Keeps the position, with the script's own text around it. */
  private stay(placed: PlacedFrame, position: Position, hasColumn = true): void {
    const { frame } = placed;
    Object.assign(frame, { file: position.file, line: position.line });
    if (hasColumn) frame.column = position.column;
    frame.inApp = isInApp(position.file, this.appRoot);
    const script = this.scripts.find(position.file);
    const text = placed.text ?? (script && this.scripts.textOf(script));
    if (text) this.addCode(frame, text.lines);
  }

  private addCode(frame: Frame, lines: readonly string[]): void {
    const code = cutCodeFrame(lines, frame.line ?? 0, frame.column ?? 1, this.contextLines);
    if (code) frame.source = code;
  }
}

/** Of an excerpt, lines that were left out are empty. */
function lacksPlace(lines: readonly string[], { line, column }: { line: number; column: number }): boolean {
  const length = lines[line - 1]?.length;
  return length === undefined || (length > 0 && column > length + 1);
}

const pickPosition = ({ file, line, column }: Position): Position => ({ file, line, column });

/** The file on disk, if the words around the position match the map. */
function diskLines(
  map: ScriptMap,
  text: ScriptText | undefined,
  generated: Position,
  original: { source: string; line: number; column: number },
): readonly string[] | undefined {
  const lines = map.diskLinesOf(original.source);
  if (!lines || !hasPlace(lines, original)) return undefined;
  const misfit = text && findMisfitNear(map.reader, text, generated.line, generated.column, map.diskLinesOf);
  return misfit ? undefined : lines;
}
