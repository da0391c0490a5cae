/**
 * `agentdump serve`: a store over HTTP, for machines that may not reach its database and its bundles themselves; and the tokens
 * of those that may ask it.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandModule } from 'yargs';
import { AgentdumpError } from '../../../errors.ts';
import { signals } from '../../../platform/signals.ts';
import { renderTokens } from '../../../report/tokens.ts';
import type { Store } from '../../../store/open-store.ts';
import { type Right, rights } from '../../../store/service/protocol.ts';
import { jsonOption } from '../../options/bundle-options.ts';
import { requireSize } from '../../options/option-words.ts';
import { storeOption } from '../../options/store-options.ts';
import { note, print, printJson, stdoutColumns } from '../../output/output.ts';

interface Words {
  action?: string | undefined;
  name?: string | undefined;
  store?: string | undefined;
  host: string;
  port: number;
  uploads: string;
  may?: string | undefined;
  bundlesPerHour?: number | undefined;
  bytesPerHour?: string | undefined;
  json?: boolean | undefined;
}

const actions = ['token', 'tokens', 'revoke'];

const command: CommandModule<object, Words> = {
  command: 'serve [action] [name]',
  describe: 'Serve a store over HTTP to senders and readers with tokens',
  builder: (yargs) =>
    yargs
      .usage(
        [
          '$0 serve [action] [name]',
          'Without an action, serves the store until Ctrl-C.',
          'Actions:',
          `  ${'token <name> --may RIGHT'.padEnd(30)}make a token, and print it: it is not shown again`,
          `  ${'tokens'.padEnd(30)}list the tokens, and what was uploaded with them`,
          `  ${'revoke <name>'.padEnd(30)}make a token invalid`,
        ].join('\n\n'),
      )
      .positional('action', { type: 'string', describe: 'one of the actions above' })
      .positional('name', { type: 'string', describe: 'token, revoke: the name of the token' })
      .option('store', {
        ...storeOption,
        describe: 'Store: a folder, or "postgres://host/database /folder" or "… s3://bucket/prefix"',
      })
      .option('host', {
        type: 'string',
        requiresArg: true,
        default: '127.0.0.1',
        describe: 'Address to listen on; 0.0.0.0: every one',
      })
      .option('port', {
        type: 'number',
        requiresArg: true,
        default: 8080,
        describe: 'Port to listen on; 0: any that is free',
      })
      .option('uploads', {
        type: 'string',
        requiresArg: true,
        default: join(tmpdir(), `agentdump-uploads-${process.getuid?.() ?? 'user'}`),
        defaultDescription: 'in the temporary folder',
        describe: 'Folder for uploads that are not complete',
      })
      .option('may', {
        choices: rights,
        describe: 'token: what it is for; manage: read, and decide about issues',
      })
      .option('bundles-per-hour', {
        type: 'number',
        requiresArg: true,
        describe: 'token: how many bundles may be uploaded with it',
        defaultDescription: '1000',
      })
      .option('bytes-per-hour', {
        type: 'string',
        requiresArg: true,
        describe: 'token: and how many bytes; K, M and G may follow',
        defaultDescription: '10G',
      })
      .option('json', jsonOption)
      .epilogue('It speaks HTTP: put a proxy with a certificate in front of it. GET /health needs no token.'),
  handler: async (words) => {
    requireWords(words);
    const { openStore } = await import('../../../store/open-store.ts');
    const store = await openStore(words.store!, { onWait: note });
    if (words.action === undefined) return serve(store, words);
    try {
      await manageTokens(store, words);
    } finally {
      await store.close();
    }
  },
};
export default command;

/** Throws `usage`. */
function requireWords({ action, name, store, port, may }: Words): void {
  const wrong = (message: string, argument: string) => new AgentdumpError('usage', message, { argument });
  if (!store) throw wrong('no store: name one with --store, or set AGENTDUMP_STORE', 'store');
  if (/^https?:/.test(store.trim())) throw wrong(`${store} is a service itself`, 'store');
  if (action !== undefined && !actions.includes(action))
    throw wrong(`no action ${action}: ${actions.join(', ')}`, 'action');
  if ((action === 'token' || action === 'revoke') !== (name !== undefined))
    throw wrong(
      action === 'tokens' || action === undefined ? 'this takes no name' : `serve ${action} <name>`,
      'name',
    );
  if ((action === 'token') !== (may !== undefined))
    throw wrong(`serve token <name> --may ${rights.join('|')}`, 'may');
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw wrong('--port takes a number from 0 to 65535', 'port');
}

async function serve(store: Store, { host, port, uploads }: Words): Promise<void> {
  const { serveStore } = await import('../../../store/service/serve.ts');
  const { listTokens } = await import('../../../store/service/tokens.ts');
  const valid = (await listTokens(store.index)).filter(({ revokedAt }) => revokedAt === undefined);
  if (valid.length === 0)
    note('no token is valid, so nobody can ask it yet: agentdump serve token <name> --may send');
  const service = await serveStore({ store, host, port, uploads, note }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  print(service.url);
  note(`serving ${store.index.place} until Ctrl-C`);
  await new Promise<void>((resolve) => {
    for (const signal of [signals.interrupt, signals.end]) process.once(signal, () => resolve());
  });
  await service.close();
}

async function manageTokens(store: Store, words: Words): Promise<void> {
  const { listTokens, makeToken, revokeToken, usualLimits } = await import(
    '../../../store/service/tokens.ts'
  );
  const { action, name = '', may, bundlesPerHour, bytesPerHour, json } = words;
  if (action === 'tokens') {
    const tokens = await listTokens(store.index);
    if (json) return printJson({ tokens }, 2);
    if (tokens.length === 0) return note('there are no tokens');
    return print(renderTokens(tokens, { columns: stdoutColumns() }));
  }
  if (action === 'revoke') {
    await revokeToken(store.index, name);
    return json ? printJson({ revoked: name }) : print(`${name} revoked`);
  }
  const token = await makeToken(store.index, {
    name,
    may: may as Right,
    bundlesPerHour: countOf(bundlesPerHour) ?? usualLimits.bundlesPerHour,
    bytesPerHour:
      bytesPerHour === undefined ? usualLimits.bytesPerHour : requireSize(bytesPerHour, '--bytes-per-hour'),
  });
  return json ? printJson({ name, may, token }) : print(token);
}

function countOf(count: number | undefined): number | undefined {
  if (count === undefined || (Number.isInteger(count) && count > 0 && count < 2 ** 31)) return count;
  throw new AgentdumpError('usage', '--bundles-per-hour takes a count', { argument: 'bundles-per-hour' });
}
