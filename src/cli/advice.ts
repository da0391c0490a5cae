/**
 * What to try after an error. An AgentdumpError does not say this itself, because only the command line knows its own
 * options. A pure function of code and details.
 */
import { partNames } from '../bundle/layout/bundle.ts';
import type { AgentdumpError } from '../errors.ts';

/** One line that suggests what to try next, or undefined if it would add nothing to the message. */
export function adviceFor(error: Pick<AgentdumpError, 'code' | 'details'>): string | undefined {
  const { details } = error;
  switch (error.code) {
    case 'usage':
      return 'See `agentdump --help`, or `agentdump <command> --help` for one command.';
    case 'not-found':
      if (details['run'] !== undefined)
        return 'See `agentdump runs` for the runs here, or name another dump folder or store with --dir.';
      if (details['store'] !== undefined)
        return `\`agentdump send --all --to ${String(details['store'])}\` makes one there; otherwise name another with --store, or in AGENTDUMP_STORE.`;
      if (details['name'] === partNames.heapSnapshot)
        return 'AGENTDUMP_HEAP=always writes one at each death, `agentdump capture <pid> --heap` that of a running process. `agentdump analyze` shows which classes were counted.';
      // Only a lookup in a folder of bundles reports their number; a process or a run is looked up elsewhere.
      if (details['bundles'] === undefined) return undefined;
      return details['bundles'] === 0
        ? 'No bundle was written here yet. Start the program with `node --require agentdump/register`, or name the folder with --dir. For a process that was killed, `agentdump sweep` or the next start of the program writes the bundle.'
        : 'See `agentdump list` for the bundles here, or name another folder with --dir.';
    case 'not-a-bundle':
      return 'A bundle is a folder that ends in .agentdump, or its packed form ending in .agentdump.zip.';
    case 'unsupported-version':
      if (details['format'] === 'javascriptcore')
        return "In Bun, `Bun.generateHeapSnapshot('v8')` writes one in V8's format.";
      // A compression format, given as the name of its program.
      if (details['format'] !== undefined && details['format'] === details['name'])
        return `Install ${details['name']}, or unpack it elsewhere: \`${details['name']} -d\`, or \`coredumpctl dump PID --output core\` for one of systemd-coredump.`;
      return 'It was written by a newer agentdump: `npm install agentdump@latest` reads it.';
    case 'malformed-input':
      if (details['format'] === 'elf-core')
        return 'It wants the core of a 64-bit Linux process, as the kernel writes it, plain or packed, or a report of apport that holds one.';
      if (details['format'] === 'heapsnapshot')
        return 'It wants a .heapsnapshot of V8, plain or gzipped. If its writer was stopped early, take it again.';
      return 'The file is torn or was changed. `agentdump verify` says which parts still match their digest.';
    case 'over-limit':
      return 'The input asks for more than a reader should trust it with. If it is your own, see `--help` for the limit.';
    case 'locked':
      return '`--identity FILE` with the age identity of its recipient opens it, or `--passphrase-file FILE`.';
    case 'held':
      return 'Wait until it ends or end it; `agentdump runs` shows who holds what.';
    case 'changed':
      return 'Go back to the code that recorded it, branch with `agent.version`, or see `agentdump rollback`.';
    case 'unwritable':
      if (/^(postgres|s3|https?):/i.test(String(details['path'])))
        return 'Is it up, and are its address and keys right? What was not sent stays in the dump folder.';
      if (details['reason'] === 'temporary') return 'Name a folder with room for it by TMPDIR.';
      return details['reason'] === 'exists' || details['reason'] === 'EEXIST'
        ? 'Name another target, or move the old one away: nothing is overwritten.'
        : 'Name a folder that you own and that has room.';
  }
}
