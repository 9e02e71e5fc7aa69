/** Sketches. */ package dev.millrace.sketch;
