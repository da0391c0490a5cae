/**
 * The ports on which the program, its threads and its Node children listen. Servers of the program itself run again in a
 * replay and are not servers of the recording. Children that are not Node processes are not seen.
 */
import dgram from 'node:dgram';
import { appendFileSync, readFileSync } from 'node:fs';
import net from 'node:net';

const ofThisMachine = /^(localhost|127\.\d+\.\d+\.\d+|::1?|0\.0\.0\.0|\[::1?\])$/;

export class OwnPorts {
  readonly #file: string;

  /** `file`: shared by all processes of the replay, one port per line. */
  constructor(file: string) {
    this.#file = file;
    const listen = net.Server.prototype.listen as (this: net.Server, ...args: unknown[]) => net.Server;
    const note = (server: net.Server | dgram.Socket) => this.#note(server.address());
    net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]) {
      this.prependOnceListener('listening', () => note(this));
      return listen.apply(this, args);
    } as typeof net.Server.prototype.listen;
    const bind = dgram.Socket.prototype.bind as (this: dgram.Socket, ...args: unknown[]) => dgram.Socket;
    dgram.Socket.prototype.bind = function (this: dgram.Socket, ...args: unknown[]) {
      this.prependOnceListener('listening', () => note(this));
      return bind.apply(this, args);
    } as typeof dgram.Socket.prototype.bind;
  }

  has(host: string, port: number): boolean {
    if (!ofThisMachine.test(host)) return false;
    try {
      return readFileSync(this.#file, 'latin1').split('\n').includes(String(port));
    } catch {
      return false;
    }
  }

  #note(address: net.AddressInfo | string | null): void {
    if (typeof address !== 'object' || address === null) return;
    try {
      appendFileSync(this.#file, `${address.port}\n`);
    } catch {
      // The replay has ended, and its folder was removed.
    }
  }
}
