import { printable } from '@orrery/ralph-loop';
import type { Clock } from 'orrery';
import { BACKENDS } from 'orrery/coding';
import { ACP_PROGRAMS } from './acp-programs.ts';
import { loginSeen } from './agent-login.ts';
import type { DoctorFinding } from './doctor-finding.ts';
import { programOnPath } from './program-on-path.ts';
import { askProgram } from './short-program.ts';

type Timers = Pick<Clock, 'setTimer'>;
type Backend = keyof typeof BACKENDS;

/** The first version of git that missions can change a repository with. */
const GIT_NEEDED = [2, 30] as const;
const VERSION = /\d{1,9}\.\d{1,9}[\w.+-]{0,40}/;
/** What is looked at for a version, characters. */
const MOST_LOOKED_AT = 2_000;
const UNKNOWN = 'whether it is logged in cannot be told without asking it';

/**
 * Says of each coding agent that is known whether it is there, which version, and whether it is logged in, as far as that is known
 * without a request to its provider. None of it is a fault: missions may use others.
 */
export async function codingPrograms(clock: Timers): Promise<readonly DoctorFinding[]> {
  const clis = (Object.keys(BACKENDS) as Backend[]).map(
    async (id): Promise<DoctorFinding> =>
      found(id, await versionOf(BACKENDS[id].command, clock), () => loginOf(id, clock)),
  );
  const adapters = ACP_PROGRAMS.filter(({ isCli }) => !isCli).map(
    async ({ command: [program] }): Promise<DoctorFinding> =>
      found(program, await versionOf(program, clock), async () => ({ state: 'ok', said: UNKNOWN })),
  );
  return Promise.all([...clis, ...adapters]);
}

/** Says whether git is there, and new enough for missions that change a repository. */
export async function gitFinding(clock: Timers): Promise<DoctorFinding> {
  const { state, text } = await versionOf('git', clock);
  const needed = `needed is ${GIT_NEEDED.join('.')} or later, for missions that change a repository`;
  const [major = 0, minor = 0] = text.split('.').map(Number);
  const isOld = major < GIT_NEEDED[0] || (major === GIT_NEEDED[0] && minor < GIT_NEEDED[1]);
  return {
    area: 'machine',
    what: 'git',
    state: state === 'ok' && !isOld ? 'ok' : 'missing',
    text: `${text}, ${needed}`,
  };
}

interface Version {
  readonly state: 'ok' | 'missing';
  readonly text: string;
}

/** `missing` only if the program itself says that nobody is logged in. */
interface LoginState {
  readonly state: 'ok' | 'missing';
  readonly said: string;
}

async function found(
  what: string,
  version: Version,
  login: () => Promise<LoginState>,
): Promise<DoctorFinding> {
  if (version.state === 'missing') return { area: 'coding agents', what, ...version };
  const { state, said } = await login();
  return {
    area: 'coding agents',
    what,
    state,
    text: `${version.text}; ${said}`,
  };
}

async function versionOf(program: string, clock: Timers): Promise<Version> {
  if (programOnPath(program, process.env['PATH']) === undefined)
    return { state: 'missing', text: 'is not on the PATH' };
  const { code, output, failure } = await askProgram({ command: program, args: ['--version'] }, clock);
  if (failure !== undefined || code !== 0)
    return { state: 'missing', text: `cannot be used: ${program} --version ${failure ?? endOf(code)}` };
  const version = VERSION.exec(output.slice(0, MOST_LOOKED_AT))?.[0];
  return { state: 'ok', text: version === undefined ? 'says no version' : printable(version) };
}

const endOf = (code: number | null): string =>
  code === null ? 'was ended by a signal' : `ended with code ${code}`;

async function loginOf(id: Backend, clock: Timers): Promise<LoginState> {
  const seen = loginSeen(id, process.env);
  if (seen !== undefined) return { state: 'ok', said: `has credentials: ${seen}` };
  return id === 'codex' ? codexLogin(clock) : { state: 'ok', said: UNKNOWN };
}

/** The only one that says so by a command that asks no provider and begins no login. What it prints may show parts of a key. */
async function codexLogin(clock: Timers): Promise<LoginState> {
  const { code, failure } = await askProgram(
    { command: BACKENDS.codex.command, args: ['login', 'status'] },
    clock,
  );
  if (failure === undefined && code === 0)
    return { state: 'ok', said: 'is logged in, "codex login status" says' };
  if (failure === undefined && code === 1)
    return { state: 'missing', said: 'is not logged in, "codex login status" says; "codex login" does it' };
  return { state: 'ok', said: UNKNOWN };
}
