/**
 * systemd's notification protocol: datagrams to the socket in NOTIFY_SOCKET. Node has no Unix datagram sockets, so a common
 * helper sends them: perl (in Debian's base system), python3, or one systemd-notify per message. The sender is then the
 * helper, so the unit needs `NotifyAccess=all`. Source: sd_notify(3).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { isOnPath } from '../run/on-path.ts';

export interface ServiceNotifier {
  /** `NAME=value` lines of one message. */
  send(lines: readonly string[]): void;
  /** Stops the watchdog messages, so that the service manager's watchdog acts, if it has one. */
  fallSilent(): void;
  close(): void;
}

type Sender = Pick<ServiceNotifier, 'send' | 'close'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Both helpers read one message per line from stdin, with \x1f for the line ends inside a message. */
const perl = `use Socket; my $p = $ENV{NOTIFY_SOCKET}; $p =~ s/^@/\\0/; socket(my $s, PF_UNIX, SOCK_DGRAM, 0);
  while (<STDIN>) { chomp; tr/\\x1f/\\n/; send($s, $_, 0, sockaddr_un($p)); }`;
const python = `import os, socket, sys
p = os.environ['NOTIFY_SOCKET']
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for line in sys.stdin:
    s.sendto(line.rstrip('\\n').replace('\\x1f', '\\n').encode(), '\\0' + p[1:] if p[0] == '@' else p)`;
const lineHelpers: Record<string, string[]> = {
  perl: ['-e', perl],
  python3: ['-u', '-c', python],
};

/** Undefined if NOTIFY_SOCKET is not set or there is no helper; the latter is reported with `note`. */
export function openNotifier(
  environment: Environment,
  note: (text: string) => void,
): ServiceNotifier | undefined {
  if (!environment['NOTIFY_SOCKET']) return undefined;
  const path = environment['PATH'] ?? '/usr/bin:/bin';
  const helper = Object.keys(lineHelpers).find((name) => isOnPath(name, path));
  const sender =
    helper !== undefined
      ? new LineSender(helper, lineHelpers[helper] ?? [])
      : isOnPath('systemd-notify', path)
        ? new CallSender()
        : undefined;
  if (sender) return withWatchdog(sender, environment);
  note('NOTIFY_SOCKET is set, but neither perl, python3 nor systemd-notify is there to send: not notified');
  return undefined;
}

/** The service manager expects a message within WATCHDOG_USEC; sd_watchdog_enabled(3) recommends half of that. */
function withWatchdog(sender: Sender, { WATCHDOG_USEC: wanted }: Environment): ServiceNotifier {
  const everyMs = Number(wanted) / 2000;
  sender.send([`MAINPID=${process.pid}`]);
  const timer = everyMs >= 1 ? setInterval(() => sender.send(['WATCHDOG=1']), everyMs) : undefined;
  timer?.unref();
  return {
    send: (lines) => sender.send(lines),
    fallSilent: () => clearInterval(timer),
    close: () => {
      clearInterval(timer);
      sender.close();
    },
  };
}

/** One helper process for all messages. */
class LineSender implements Sender {
  readonly #helper: ChildProcess;

  constructor(command: string, words: readonly string[]) {
    this.#helper = spawn(command, words, { stdio: ['pipe', 'ignore', 'ignore'] });
    this.#helper.on('error', () => {});
    this.#helper.stdin?.on('error', () => {});
    this.#helper.unref();
    (this.#helper.stdin as unknown as { unref(): void } | null)?.unref();
  }

  send(lines: readonly string[]): void {
    this.#helper.stdin?.write(`${lines.map(oneLine).join('\x1f')}\n`);
  }

  close(): void {
    this.#helper.stdin?.end();
  }
}

/** One process per message. */
class CallSender implements Sender {
  send(lines: readonly string[]): void {
    spawn('systemd-notify', lines.map(oneLine), { stdio: 'ignore' })
      .on('error', () => {})
      .unref();
  }

  close(): void {}
}

const oneLine = (text: string) => text.replace(/[\n\x1f]/g, ' ');
