// What a fault of the connection means for the call: whether another try can help, and the sentence people get.
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { Fault } from './http.js';
import type { CallFailure, Scene } from './refusals.js';

function inSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

interface Meaning {
  readonly sentence: string;
  readonly reason: string;
  readonly retry: boolean;
}

function meaningOf(fault: Fault, host: string, settings: ModelSettings): Meaning {
  switch (fault) {
    case 'bad_request':
      return {
        sentence: `no request to ${host} could be made: check the URL, the key and the headers for characters that cannot be sent`,
        reason: 'bad request',
        retry: false,
      };
    case 'connect_failed':
      return { sentence: `no connection to ${host}`, reason: 'no connection', retry: true };
    case 'connect_timeout':
      return {
        sentence: `no connection to ${host} within ${inSeconds(settings.connect_ms)}`,
        reason: 'no connection',
        retry: true,
      };
    case 'tls':
      return {
        sentence: `the TLS certificate of ${host} is not trusted, or it speaks no TLS: check the URL and the extra authority`,
        reason: 'TLS failed',
        retry: false,
      };
    case 'first_timeout':
      return {
        sentence: `${host} was silent for ${inSeconds(settings.first_byte_ms)} after the request`,
        reason: 'provider silent',
        retry: true,
      };
    case 'idle_timeout':
      return {
        sentence: `${host} fell silent in the middle of its answer`,
        reason: 'provider silent',
        retry: true,
      };
    case 'call_timeout':
      return {
        sentence: `${host} did not finish its answer within ${inSeconds(settings.call_ms)}`,
        reason: 'provider too slow',
        retry: false,
      };
    case 'lost':
      return { sentence: `the connection to ${host} broke`, reason: 'connection lost', retry: true };
    case 'damaged':
      return {
        sentence: `the answer of ${host} arrived damaged`,
        reason: 'damaged answer',
        retry: true,
      };
    case 'too_large':
      return { sentence: `${host} sent more than any answer may take`, reason: 'too large', retry: false };
  }
}

export function failureOfFault(fault: Fault, scene: Scene, settings: ModelSettings): CallFailure {
  const { sentence, reason, retry } = meaningOf(fault, scene.host, settings);
  const id = scene.requestId === null ? '' : ` (request id ${scene.requestId})`;
  return {
    code: fault === 'bad_request' ? 'model_rejected' : 'model_unreachable',
    message: `${sentence}${id}`,
    reason,
    retry,
    retryAfterMs: null,
    option: null,
  };
}
