/**
 * The latest connections of the program, and which of them failed. What ended a connection is read from its socket, so that
 * nothing has to listen to it: when the next one begins, and at a death. Sockets are referenced weakly.
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ownField, textField } from './own-field.ts';

/** Failures of one address with one message. */
export interface FailedConnection {
  /** `connection to 10.0.0.7:5432` */
  what: string;
  message: string;
  times: number;
  /** When the last of them was begun, in milliseconds since 1970. */
  lastBegunAt: number;
  /** The stack that began the last of them, as V8 prints it. */
  stack: string;
  /** Whether it began all of them. */
  isOnlyStack: boolean;
}

export const unnamedConnection = 'connection';
const mostWatched = 50;
const mostKept = 8;
const longestMessage = 500;
const readErrored = Object.getOwnPropertyDescriptor(Readable.prototype, 'errored')?.get;
const { now } = Date;

export class Connections {
  readonly #stackOf: (socket: Socket) => string;
  readonly #onFailure: (socket: Socket, failure: object, what: string) => void;
  #watched: { held: WeakRef<Socket>; begunAt: number }[] = [];
  readonly #failed = new Map<string, FailedConnection>();

  /** `stackOf`: empty if it was not captured. `onFailure` is called once for each that failed. */
  constructor(
    stackOf: (socket: Socket) => string,
    onFailure: (socket: Socket, failure: object, what: string) => void,
  ) {
    this.#stackOf = stackOf;
    this.#onFailure = onFailure;
  }

  begin(socket: Socket): void {
    this.look();
    this.#watched.push({ held: new WeakRef(socket), begunAt: now() });
    if (this.#watched.length > mostWatched) this.#watched.shift();
  }

  /** The failures until now; the ones of the latest connections last. */
  look(): FailedConnection[] {
    this.#watched = this.#watched.filter(({ held, begunAt }) => {
      const socket = held.deref();
      const failure = socket && failureOf(socket);
      if (failure) this.#note(socket, failure, begunAt);
      return socket && !failure;
    });
    return [...this.#failed.values()];
  }

  #note(socket: Socket, failure: object, begunAt: number): void {
    const what = nameOf(failure);
    this.#onFailure(socket, failure, what);
    if (!isOfSystem(failure)) return;
    const message = textField(failure, 'message')?.slice(0, longestMessage) ?? '';
    const stack = this.#stackOf(socket);
    const key = `${what}: ${message}`;
    const before = this.#failed.get(key);
    this.#failed.delete(key);
    this.#failed.set(key, {
      what,
      message,
      times: (before?.times ?? 0) + 1,
      lastBegunAt: begunAt,
      stack,
      isOnlyStack: !before || (before.isOnlyStack && before.stack === stack),
    });
    for (const oldest of this.#failed.keys()) {
      if (this.#failed.size <= mostKept) break;
      this.#failed.delete(oldest);
    }
  }
}

/** Clients end connections that they no longer need with an error of their own, and a program aborts what it chooses. */
const isOfSystem = (failure: object): boolean =>
  textField(failure, 'syscall') !== undefined ||
  /^ERR_(?:TLS|SSL)_|CERT|SIGNATURE|ISSUER/.test(textField(failure, 'code') ?? '');

/** The error that destroyed it. */
export function failureOf(socket: object): object | undefined {
  try {
    const failure: unknown = readErrored?.call(socket);
    return typeof failure === 'object' && failure !== null ? failure : undefined;
  } catch {
    return undefined;
  }
}

/** A connection by the address in its error. */
export function nameOf(failure: object): string {
  const host = textField(failure, 'address') ?? textField(failure, 'hostname');
  const port = ownField(failure, 'port');
  const address = host !== undefined && typeof port === 'number' ? `${host}:${port}` : host;
  return address === undefined ? unnamedConnection : `${unnamedConnection} to ${address}`;
}
