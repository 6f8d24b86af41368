import { fileURLToPath } from 'node:url';

const FILE = 'it read or wrote a file or folder';
const WATCH = 'it watched a file or folder';
const SOCKET = 'it opened or used a socket';
const LOOK_UP = 'it looked up a name in DNS';
const THREAD = 'it started or asked a thread';
const CRYPTO = 'it had node:crypto compute in the background';

/** Sentences about what code did, by the type of the resource in Node's `async_hooks`. */
const ACTIONS: Readonly<Record<string, string>> = {
  Timeout: 'it set a timer (setTimeout, setInterval or AbortSignal.timeout)',
  Immediate: 'it called setImmediate',
  FSREQCALLBACK: FILE,
  FSREQPROMISE: FILE,
  FILEHANDLE: FILE,
  FILEHANDLECLOSEREQ: FILE,
  DIRHANDLE: FILE,
  BLOBREADER: FILE,
  FSEVENTWRAP: WATCH,
  STATWATCHER: WATCH,
  TCPWRAP: SOCKET,
  TCPCONNECTWRAP: SOCKET,
  TCPSERVERWRAP: SOCKET,
  TCPSOCKETWRAP: SOCKET,
  TLSWRAP: SOCKET,
  PIPEWRAP: SOCKET,
  PIPECONNECTWRAP: SOCKET,
  PIPESERVERWRAP: SOCKET,
  UDPWRAP: SOCKET,
  UDPSENDWRAP: SOCKET,
  HTTPCLIENTREQUEST: SOCKET,
  HTTPINCOMINGMESSAGE: SOCKET,
  HTTP2SESSION: SOCKET,
  PROCESSWRAP: 'it started a process',
  SIGNALWRAP: 'it waited for a signal',
  TTYWRAP: 'it used a terminal',
  DNSCHANNEL: LOOK_UP,
  GETADDRINFOREQWRAP: LOOK_UP,
  GETNAMEINFOREQWRAP: LOOK_UP,
  QUERYWRAP: LOOK_UP,
  WORKER: THREAD,
  MESSAGEPORT: THREAD,
  ZLIB: 'it packed or unpacked data (node:zlib)',
  CHECKPRIMEREQUEST: CRYPTO,
  CIPHERREQUEST: CRYPTO,
  DERIVEBITSREQUEST: CRYPTO,
  PBKDF2REQUEST: CRYPTO,
  RANDOMPRIMEREQUEST: CRYPTO,
  SCRYPTREQUEST: CRYPTO,
  VERIFYREQUEST: CRYPTO,
};

/** Says what code did when Node made a resource of this type. */
export const actionOf = (type: string): string =>
  Object.hasOwn(ACTIONS, type)
    ? (ACTIONS[type] as string)
    : `it had Node make a resource of the type ${type}`;

/** The first place in a stack outside Node and packages, as `file:line`. */
export function placeOf(stack: string): string | undefined {
  for (const frame of stack.split('\n')) {
    if (!/^\s*at /.test(frame) || frame.includes('node:') || frame.includes('/node_modules/')) continue;
    const spot = frame.endsWith(')')
      ? frame.slice(frame.indexOf('(') + 1, -1)
      : frame.replace(/^\s*at (?:async )?/, '');
    const { file, line } = /^(?<file>.+):(?<line>\d+):\d+$/.exec(spot)?.groups ?? {};
    if (file !== undefined) return `${file.startsWith('file:') ? fileURLToPath(file) : file}:${line}`;
  }
  return undefined;
}
