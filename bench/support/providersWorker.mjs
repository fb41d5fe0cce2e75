// One contestant of bench/providers in a process of its own.
import { holdConversations } from "./conversations.mjs";
import { providerContestants } from "./providersContestants.mjs";

const [baseURL, wire, who] = process.argv.slice(2);
holdConversations(Promise.resolve(providerContestants(baseURL)[wire][who]));
