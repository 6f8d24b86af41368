import type { PathHop } from '../protocol/envelope.ts';
import { type PeerNames, renamed } from './peer-names.ts';

type Path = readonly PathHop[];

/** Paths that are kept; the oldest gives way. */
const MAX_PATHS = 64;
/** Characters of one that is kept: what another node says at length is not. */
const MAX_LENGTH = 4_096;

/**
 * The paths of envelopes of other nodes, with the names of here. All that one work sends has the same path: here it is one object,
 * so that it crosses to an agent's thread once, and not with each envelope.
 */
export class SharedPaths {
  readonly #names: PeerNames;
  /** By the id of the envelope that is being handled. */
  readonly #known = new Map<string, Path>();

  constructor(names: PeerNames) {
    this.#names = names;
  }

  here(path: Path): Path {
    const key = path.at(-1)?.envelopeId ?? '';
    const known = this.#known.get(key);
    if (known !== undefined && this.#isSame(known, path)) return known;
    const named = renamed(path, (agent) => this.#names.here(agent));
    if (lengthOf(named) > MAX_LENGTH) return named;
    this.#known.delete(key);
    this.#known.set(key, named);
    if (this.#known.size > MAX_PATHS) this.#known.delete(this.#known.keys().next().value as string);
    return named;
  }

  /** Who an agent is here can change. */
  #isSame(known: Path, path: Path): boolean {
    if (known.length !== path.length) return false;
    for (let at = 0; at < path.length; at++) {
      const [one, other] = [known[at] as PathHop, path[at] as PathHop];
      if (one.envelopeId !== other.envelopeId || one.capability !== other.capability) return false;
      if (one.agent !== this.#names.here(other.agent)) return false;
    }
    return true;
  }
}

const lengthOf = (path: Path): number =>
  path.reduce((sum, hop) => sum + hop.agent.length + hop.capability.length + hop.envelopeId.length, 0);
