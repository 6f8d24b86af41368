/** A state that a planet has entered, as its own thread tells it. */
export interface EnteredState {
  readonly planet: string;
  readonly state: string;
  readonly isInWorker: boolean;
}

/** The channel on which it does. */
export const ENTERED_STATES = 'entered-states';
