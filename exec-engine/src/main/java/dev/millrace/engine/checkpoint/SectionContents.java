package dev.millrace.engine.checkpoint;

/**
 * What a section is to have, without its bytes: where two are equal in one process, so is what a reader gets of them.
 *
 * @param section its name
 * @param contents a number that no other contents of any section have had in this process
 */
public record SectionContents(String section, long contents) {}
