import productSearch from './schemas/commerce/product-search/v1.json' with { type: 'json' };
import skillBid from './schemas/marketplace/skill-bid/v1.json' with { type: 'json' };
import flightSearch from './schemas/travel/flight-search/v1.json' with { type: 'json' };

/** A JSON Schema, Draft-07. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schemas that AgentMesh defines, by their ids. */
export const STANDARD_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  'agentmesh/travel/flight-search/v1': flightSearch,
  'agentmesh/commerce/product-search/v1': productSearch,
  'agentmesh/marketplace/skill-bid/v1': skillBid,
};

/** The schema that a request with this intent has, also where it declares none. */
export const INTENT_SCHEMAS: Readonly<Record<string, string>> = {
  'travel/flights/search': 'agentmesh/travel/flight-search/v1',
  'commerce/products/search': 'agentmesh/commerce/product-search/v1',
  'marketplace/skill-bid': 'agentmesh/marketplace/skill-bid/v1',
};
