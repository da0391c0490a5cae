/** Compiles the cold half at its first use. Types only are imported from it: an import would compile it at the start. */
import type * as ColdHalf from './cold-half.ts';

/** The cold half as one CommonJS text; test/support/build.mjs puts it here. */
declare const AGENTDUMP_COLD_HALF: string;

type Wrapper = (exports: object, require: NodeJS.Require, module: { exports: object }) => void;

let loaded: typeof ColdHalf | undefined;

export function loadColdHalf(): typeof ColdHalf {
  loaded ??= compile();
  return loaded;
}

function compile(): typeof ColdHalf {
  const { Script } = process.getBuiltinModule('node:vm');
  const script = new Script(`(function(exports,require,module){${AGENTDUMP_COLD_HALF}\n})`, {
    // Begins with our own file's name: by that our frames are left out of the stacks that we keep.
    filename: `${__filename}:cold-half`,
  });
  const module = { exports: {} };
  (script.runInThisContext() as Wrapper)(module.exports, require, module);
  return module.exports as typeof ColdHalf;
}
