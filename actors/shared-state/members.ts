interface Known {
  heardAtMs: number;
  isSilent: boolean;
  vectorClock: Readonly<Record<string, number>>;
  readonly clientIds: Set<number>;
}

/** What is known of the other members: when they were last heard, what they had applied, and their Yjs client ids. */
export class Members {
  readonly #known = new Map<string, Known>();
  readonly #owners = new Map<number, string>();

  /** Notes a message of the member. The first member to name a client id owns it until it leaves. */
  hear(
    agentId: string,
    { nowMs, vectorClock, clientId }: { nowMs: number; vectorClock: Known['vectorClock']; clientId: number },
  ): void {
    const known = this.#known.get(agentId) ?? {
      heardAtMs: 0,
      isSilent: false,
      vectorClock,
      clientIds: new Set(),
    };
    known.heardAtMs = nowMs;
    known.isSilent = false;
    known.vectorClock = vectorClock;
    this.#known.set(agentId, known);
    if (this.#owners.has(clientId)) return;
    this.#owners.set(clientId, agentId);
    known.clientIds.add(clientId);
  }

  /** Says whether the member may bring changes and states under this Yjs client id. */
  mayBring(agentId: string, clientId: number): boolean {
    const owner = this.#owners.get(clientId);
    return owner === undefined || owner === agentId;
  }

  /** The member's clock when it was last heard; undefined if it is not here, or silent. */
  clockOf(agentId: string): Readonly<Record<string, number>> | undefined {
    const known = this.#known.get(agentId);
    return known === undefined || known.isSilent ? undefined : known.vectorClock;
  }

  clientIdsOf(agentId: string): number[] {
    return [...(this.#known.get(agentId)?.clientIds ?? [])];
  }

  /** Members not heard since `sinceMs`, each named once a silence. */
  fallSilent(sinceMs: number): string[] {
    const silent = [...this.#known].filter(([, known]) => !known.isSilent && known.heardAtMs < sinceMs);
    for (const [, known] of silent) known.isSilent = true;
    return silent.map(([agentId]) => agentId);
  }

  /** Forgets the member; others may then use its client ids. */
  forget(agentId: string): void {
    for (const clientId of this.clientIdsOf(agentId)) this.#owners.delete(clientId);
    this.#known.delete(agentId);
  }
}
