/**
 * The loaded scripts, by V8's id, URL or path, with what the bundle contains of each: the text that ran and its source map. A
 * map is opened once, at its first use. A map that is missing, torn or from another build becomes a gap, once per script, and
 * the script then has no map. Reads only parts of the bundle.
 */
import type { LoadedScript } from '../../bundle/layout/bundle.ts';
import { partNames } from '../../bundle/layout/bundle.ts';
import { findMapUrl } from '../../formats/source-map/data-url.ts';
import { openSourceMap, type SourceMapReader } from '../../formats/source-map/source-map.ts';
import { isAbsolute, resolveSource } from '../../formats/source-map/source-path.ts';
import { filePathOf } from '../../formats/stack-text/location.ts';
import type { Gap } from '../../model/verdict.ts';
import { splitLines } from './code-frame.ts';
import { isInApp } from './in-app.ts';
import { findMisfit } from './map-fit.ts';
import type { ScriptMap, ScriptText } from './script-text.ts';

export class ScriptIndex {
  readonly gaps: Gap[] = [];
  private readonly readPart: (name: string) => Uint8Array | undefined;
  private readonly appRoot: string | undefined;
  private readonly byId = new Map<string, LoadedScript>();
  private readonly byPath = new Map<string, LoadedScript>();
  private readonly texts = new Map<LoadedScript, ScriptText | undefined>();
  private readonly maps = new Map<LoadedScript, Promise<ScriptMap | undefined>>();
  private readonly readers: SourceMapReader[] = [];
  private sources: Promise<Map<string, { map: ScriptMap; source: string }>> | undefined;

  constructor(
    scripts: readonly LoadedScript[],
    readPart: (name: string) => Uint8Array | undefined,
    appRoot: string | undefined,
  ) {
    this.readPart = readPart;
    this.appRoot = appRoot;
    for (const script of scripts) {
      this.byId.set(script.scriptId, script);
      for (const key of [script.url, filePathOf(script.url)]) {
        const other = this.byPath.get(key);
        if (key !== '' && (!other?.sourcePart || script.sourcePart)) this.byPath.set(key, script);
      }
    }
  }

  /** By id only if that script also has this URL, since ids of another process are meaningless here. */
  find(url: string, scriptId?: string): LoadedScript | undefined {
    const own = scriptId === undefined ? undefined : this.byId.get(scriptId);
    if (own && own.url === url) return own;
    return this.byPath.get(url) ?? this.byPath.get(filePathOf(url));
  }

  textOf(script: LoadedScript): ScriptText | undefined {
    if (!this.texts.has(script)) this.texts.set(script, this.readText(script));
    return this.texts.get(script);
  }

  mapOf(script: LoadedScript): Promise<ScriptMap | undefined> {
    const opened = this.maps.get(script) ?? this.openMap(script);
    this.maps.set(script, opened);
    return opened;
  }

  /** The lines of a source by its path, from any map that contains it: for positions that the host has already mapped. */
  async findSourceLines(path: string): Promise<readonly string[] | undefined> {
    this.sources ??= this.indexSources();
    const found = (await this.sources).get(path);
    return found && (found.map.linesOf(found.source) ?? found.map.diskLinesOf(found.source));
  }

  close(): void {
    for (const reader of this.readers) reader.close();
  }

  private async indexSources(): Promise<Map<string, { map: ScriptMap; source: string }>> {
    const index = new Map<string, { map: ScriptMap; source: string }>();
    for (const script of this.byId.values()) {
      const map = script.mapPart === undefined ? undefined : await this.mapOf(script);
      for (const source of map?.reader.sources ?? []) if (map) index.set(map.pathOf(source), { map, source });
    }
    return index;
  }

  private readText(script: LoadedScript): ScriptText | undefined {
    const bytes = script.sourcePart === undefined ? undefined : this.readPart(script.sourcePart);
    const text = bytes && decode(bytes);
    return text === undefined ? undefined : { text, lines: splitLines(text) };
  }

  private readOriginal(script: LoadedScript, writtenName: string | undefined): string | undefined {
    const parts = script.originalParts ?? {};
    if (writtenName === undefined || !Object.hasOwn(parts, writtenName)) return undefined;
    const bytes = this.readPart(parts[writtenName] as string);
    return bytes && decode(bytes);
  }

  private async openMap(script: LoadedScript): Promise<ScriptMap | undefined> {
    const bytes = this.readMap(script);
    if (!bytes) return undefined;
    const part = script.mapPart ?? script.sourcePart ?? partNames.scripts;
    try {
      const reader = await openSourceMap(bytes);
      this.readers.push(reader);
      return this.checkMap(script, part, reader);
    } catch (error) {
      this.addGap(script, part, `the source map can't be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** The map's part, or the inline map in the script's own text. */
  private readMap(script: LoadedScript): Uint8Array | string | undefined {
    if (script.mapPart !== undefined) {
      const bytes = this.readPart(script.mapPart);
      if (!bytes) this.addGap(script, script.mapPart, 'the source map is not in the bundle');
      return bytes;
    }
    const text = this.textOf(script)?.text ?? '';
    const named = findMapUrl(text.slice(text.lastIndexOf('sourceMappingURL=') - 8));
    if (named?.startsWith('data:') && named.includes(',')) return named;
    if (script.mapGap ?? script.sourceMapUrl)
      this.addGap(
        script,
        partNames.scripts,
        script.mapGap ?? 'the bundle holds no source map of this script',
      );
    return undefined;
  }

  private checkMap(script: LoadedScript, part: string, reader: SourceMapReader): ScriptMap | undefined {
    const folder = mapFolder(script);
    const linesOf = remember((source) => reader.sourceContent(source));
    const diskLinesOf = remember((source) => this.readOriginal(script, reader.writtenName(source)));
    let doubted = false;
    const map: ScriptMap = {
      reader,
      trusted: true,
      fitting: new Set(),
      pathOf: (source) => this.sourcePath(folder, source),
      linesOf,
      diskLinesOf,
      distrust: (reason) => {
        if (map.trusted) this.addGap(script, part, `the source map does not fit: ${reason}`);
        map.trusted = false;
      },
      doubt: (reason) => {
        if (!doubted) this.addGap(script, part, `the source map says nothing of some places: ${reason}`);
        doubted = true;
      },
    };
    const text = this.textOf(script);
    const misfit = text && findMisfit(reader, text);
    if (misfit) map.distrust(misfit);
    return map.trusted ? map : undefined;
  }

  /** `webpack://name/src/a.ts` is relative to the program's folder; other paths are relative to the map's. */
  private sourcePath(folder: string, source: string): string {
    const bundled = /^(?:webpack|turbopack|rspack):\/\/[^/]*\/(.*)$/s.exec(source)?.[1];
    if (bundled === undefined) return resolveSource(folder, source);
    const path = bundled.replace(/\?[0-9a-z]{0,8}$/, '');
    if (isAbsolute(path) || !isInApp(source, this.appRoot)) return path;
    return this.appRoot ? resolveSource(this.appRoot, path) : path;
  }

  /** Not for published packages: they often name maps that they don't ship. */
  private addGap(script: LoadedScript, part: string, reason: string): void {
    const path = filePathOf(script.url);
    if (!isInApp(path, this.appRoot)) return;
    const named = script.sourceMapUrl;
    const lookedFor = named === undefined || named.startsWith('data:') ? `the source map of ${path}` : named;
    this.gaps.push({ part, reason: `${path}: ${reason}`, lookedFor });
  }
}

/** Splits each text only once. */
function remember(read: (source: string) => string | undefined) {
  const known = new Map<string, readonly string[] | undefined>();
  return (source: string): readonly string[] | undefined => {
    if (!known.has(source)) {
      const text = read(source);
      known.set(source, text === undefined ? undefined : splitLines(text));
    }
    return known.get(source);
  };
}

/** Sources are named relative to their map, which is beside the script unless the script names another place. */
function mapFolder(script: LoadedScript): string {
  const path = filePathOf(script.url);
  const folder = path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')));
  const url = script.sourceMapUrl ?? '';
  if (url.startsWith('data:') || /^https?:/.test(url)) return folder;
  const named = resolveSource(folder, url.replace(/[^/]*$/, ''));
  return named === '' ? folder : named.replace(/(?<=.)\/$/, '');
}

const decode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
