package dev.millrace.expressions.code;

/**
 * How much of its expressions a program computes in one method and in one class.
 *
 * @param methodNodes nodes of an expression; at least 8
 * @param classNodes nodes of all projections
 * @param classProjections projections
 */
public record CodeSize(int methodNodes, int classNodes, int classProjections) {
    /**
     * What suits the JIT, which gives up on methods of more than 8,000 bytes (with NULLs and NUMERIC a node is some 30), and
     * Janino, whose time grows with the square of a class's length.
     */
    public static final CodeSize USUAL = new CodeSize(200, 2_000, 100);

    public CodeSize {
        if (methodNodes < 8) {
            throw new IllegalArgumentException("methods of " + methodNodes + " nodes");
        }
    }
}
