#!/usr/bin/env node
// Not built, so that package managers can link the command before the first build.
import "./dist/bin.js";
