// One contestant of bench/providers in its own process.
import { holdConversations } from "./conversations.mjs";
import { providerContestants } from "./providersContestants.mjs";

const [baseURL, wire, who] = process.argv.slice(2);
holdConversations(Promise.resolve(providerContestants(baseURL)[wire][who]));
