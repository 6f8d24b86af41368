import { PLANETS } from 'orrery/planets';
import { architectureCycles } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { layers } from '../tools/layers.tool.ts';
import { cycles } from '../tools/oxlint-cycles.tool.ts';

export const jupiter = planet(PLANETS.jupiter, architectureCycles, [cycles, layers]);
