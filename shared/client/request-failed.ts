// What a request that was not carried out is rejected with.
import type { ErrorData, ErrorResponse } from '../protocol/envelope.js';

/** The daemon answered with an error. `code` is its stable name; `rpc` its number on the wire. */
export class RequestFailed extends Error {
  readonly code: string;
  readonly rpc: number;
  readonly data: ErrorData;
  constructor({ error }: ErrorResponse) {
    super(error.message);
    this.name = 'RequestFailed';
    this.code = error.data.code;
    this.rpc = error.code;
    this.data = error.data;
  }
}

/** The connection ended before the answer came: whether the request was carried out is not known. */
export class ConnectionLost extends Error {
  /** Of the WebSocket; 1006 when nobody said goodbye. */
  readonly closeCode: number;
  constructor(closeCode: number, reason: string) {
    super(`the connection to the daemon ended (${closeCode}${reason === '' ? '' : `, ${reason}`})`);
    this.name = 'ConnectionLost';
    this.closeCode = closeCode;
  }
}

/** There is no connection: nobody listens there, or the door stays shut. */
export class CannotConnect extends Error {
  /** HTTP status of the refusal; null when nobody answered. */
  readonly status: number | null;
  constructor(message: string, status: number | null) {
    super(message);
    this.name = 'CannotConnect';
    this.status = status;
  }
}
