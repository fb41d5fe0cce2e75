export { type BullmqEngineOptions, createBullmqEngine } from "./bullmqEngine.js";
