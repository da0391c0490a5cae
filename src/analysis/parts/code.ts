/** `scripts.json`, `locals.json`, `packages.json`, `native-modules.json` and `drift.json`, field by field. */
import type {
  DriftPart,
  LoadedScript,
  LocalsPart,
  NativeModulesPart,
  PackagesPart,
  RawFrame,
  WorkerStacksPart,
} from '../../bundle/layout/bundle.ts';
import { readRawFrame } from './error.ts';
import { asText, defined, type Fields } from './fields.ts';

/** Bundles from other writers may contain more stacks than ours. */
const mostStacks = 200;

export function readHandlers(part: Fields): RawFrame[] | undefined {
  return part.list('handlers', readRawFrame);
}

export function readScripts(part: Fields): LoadedScript[] {
  return (
    part.list('scripts', (script) => {
      const url = script.text('url');
      if (url === undefined) return undefined;
      return {
        scriptId: script.textOrNumber('scriptId') ?? '',
        url,
        hash: script.text('hash') ?? '',
        isModule: script.flag('isModule') ?? false,
        ...defined({
          lengthChars: script.number('lengthChars'),
          sourceMapUrl: script.text('sourceMapUrl'),
          sourcePart: script.text('sourcePart'),
          mapPart: script.text('mapPart'),
          mapGap: script.text('mapGap'),
          originalParts: script.record('originalParts', asText),
        }),
        ...(script.flag('isExcerpt') && { isExcerpt: true as const }),
        ...(script.flag('isSought') && { isSought: true as const }),
      };
    }) ?? []
  );
}

export function readSuspendedPart(part: Fields): string[] {
  return (part.texts('stacks') ?? []).slice(0, mostStacks);
}

export function readLocals(part: Fields): LocalsPart['frames'] {
  return (
    part.list('frames', (frame) => {
      const position = readRawFrame(frame);
      if (!position) return undefined;
      const scopes =
        frame.list('scopes', (scope) => ({
          type: scope.text('type') ?? 'local',
          ...defined({ name: scope.text('name') }),
          variables:
            scope.list('variables', (variable) => {
              const name = variable.text('name');
              return name === undefined ? undefined : { name, value: variable.text('value') ?? '' };
            }) ?? [],
        })) ?? [];
      return { ...position, scopes };
    }) ?? []
  );
}

export function readWorkerStacks(part: Fields): WorkerStacksPart['workers'] {
  return (
    part.list('workers', (worker) => ({
      workerId: worker.textOrNumber('workerId') ?? '?',
      title: worker.text('title') ?? '',
      url: worker.text('url') ?? '',
      idle: worker.flag('idle') ?? false,
      frames: readLocals(worker),
    })) ?? []
  );
}

export function readPackages(part: Fields): PackagesPart['packages'] {
  return (
    part.list('packages', (one) => {
      const name = one.text('name');
      if (name === undefined) return undefined;
      return {
        name,
        path: one.text('path') ?? '',
        scripts: one.number('scripts') ?? 0,
        ...defined({
          version: one.text('version'),
          requested: one.text('requested'),
          isProgram: one.flag('isProgram'),
        }),
      };
    }) ?? []
  );
}

export function readNativeModules(part: Fields): NativeModulesPart['modules'] {
  return (
    part.list('modules', (one) => {
      const path = one.text('path');
      const base = one.text('base');
      const end = one.text('end');
      if (path === undefined || base === undefined || end === undefined) return undefined;
      return { path, base, end, ...defined({ buildId: one.text('buildId') }) };
    }) ?? []
  );
}

export type DriftFacts = Partial<DriftPart> & Pick<DriftPart, 'differences'>;

export function readDrift(part: Fields): DriftFacts {
  const missing = part.object('missing');
  const specifier = missing?.text('specifier');
  const differences =
    part.list('differences', (one) => {
      const name = one.text('name');
      const problem = one.text('problem');
      if (name === undefined || problem === undefined) return undefined;
      return {
        name,
        problem,
        ...defined({
          path: one.text('path'),
          requested: one.text('requested'),
          locked: one.text('locked'),
          installed: one.text('installed'),
        }),
      };
    }) ?? [];
  return {
    differences,
    ...defined({
      lockFile: part.text('lockFile'),
      kind: part.oneOf('kind', ['npm', 'pnpm', 'yarn', 'bun'] as const),
      missing:
        specifier === undefined ? undefined : { specifier, ...defined({ from: missing?.text('from') }) },
      compared: part.number('compared'),
    }),
  };
}
