package dev.millrace.sql.parser.feed;

import dev.millrace.sql.grammar.QueryGrammarConstants;
import dev.millrace.sql.syntax.FromClauses;
import java.util.BitSet;

/** In which part of its SELECT the place is, for each depth of parentheses. One thread, one parse. */
final class SelectParts {
    private final FedTokens tokens;
    // Depths at which a SELECT has not had its FROM yet.
    private final BitSet selecting = new BitSet();
    // Depths that are in a FROM.
    private final BitSet naming = new BitSet();
    // Depths at which an ASOF JOIN has had neither MATCH_CONDITION nor ON yet.
    private final BitSet matching = new BitSet();

    SelectParts(FedTokens tokens) {
        this.tokens = tokens;
    }

    /** Whether the place is in a FROM. */
    boolean isInFrom() {
        return naming.get(tokens.depth());
    }

    /** Whether what comes is an item of FROM. */
    boolean beginsItem() {
        boolean begins = tokens.before(1).isWord("from")
                || tokens.before(1).isWord("join")
                || tokens.before(1).isWord("lateral")
                || tokens.before(1).isSymbol(",");
        return begins && isInFrom();
    }

    /** An ASOF JOIN is at hand, which says later what matches. */
    void expectMatch() {
        matching.set(tokens.depth());
    }

    /** Its MATCH_CONDITION or ON is at hand: whether one was to come. */
    boolean takeMatch() {
        boolean expected = matching.get(tokens.depth());
        matching.clear(tokens.depth());
        return expected;
    }

    /** A parenthesis is about to close. */
    void close() {
        naming.clear(tokens.depth());
        selecting.clear(tokens.depth());
    }

    /**
     * A word is at hand that may begin another part. Puts {@code FROM "one row"} before the WHERE, GROUP BY or HAVING of a
     * SELECT without FROM: the grammar wants one.
     *
     * @param separates whether FROM stands between arguments, as in {@code trim(x from y)}
     */
    void enter(String word, boolean separates) {
        int depth = tokens.depth();
        switch (word) {
            case "select" -> {
                selecting.set(depth);
                naming.clear(depth);
            }
            case "from" -> {
                if (!tokens.before(1).isWord("distinct") && !separates) {
                    selecting.clear(depth);
                    naming.set(depth);
                }
            }
            case "union", "intersect", "except" -> selecting.clear(depth);
            case "order", "qualify", "limit" -> naming.clear(depth);
            case "where", "having", "group" -> {
                naming.clear(depth);
                boolean isClause = !tokens.before(1).isWord("within")
                        && (!word.equals("group") || tokens.after(1).isWord("by"));
                if (selecting.get(depth) && isClause) {
                    selecting.clear(depth);
                    tokens.keyword("from", 0);
                    tokens.push(QueryGrammarConstants.IDENTIFIER, FromClauses.ONE_ROW, 0);
                }
            }
            default -> {}
        }
    }
}
