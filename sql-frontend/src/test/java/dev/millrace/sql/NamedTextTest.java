package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamedTextTest {
    private final Frontend frontend = new Frontend();

    /** As a session sees it that looks in the schema {@code s} first, where all the test's relations are. */
    private static final class InSchema implements Catalog {
        private final TestCatalog relations = new TestCatalog();

        @Override
        public Optional<Relation> relation(String name) {
            return relations
                    .relation(name)
                    .map(found -> new Relation(
                            "s." + name,
                            found.kind(),
                            found.schema(),
                            found.appendOnly(),
                            found.primaryKey(),
                            found.eventTime()));
        }

        @Override
        public Optional<Relation> exactRelation(String name) {
            return name.startsWith("s.") ? relation(name.substring(2)) : Optional.empty();
        }

        @Override
        public boolean isSchema(String name) {
            return name.equals("s") || Catalog.super.isSchema(name);
        }

        @Override
        public Collection<String> relationNames() {
            return List.of();
        }
    }

    private String named(String sql) {
        return frontend.named(frontend.parse(sql).get(0), new InSchema(), Parameters.none())
                .text();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            CREATE VIEW v AS SELECT bid.price FROM bid                                  | CREATE VIEW v AS SELECT bid.price FROM s.bid
            CREATE VIEW v AS TABLE bid                                                  | CREATE VIEW v AS TABLE s.bid
            CREATE VIEW v AS SELECT s.bid.price FROM bid                                | CREATE VIEW v AS SELECT s.bid.price FROM s.bid
            CREATE VIEW v AS SELECT price FROM s.bid                                    | CREATE VIEW v AS SELECT price FROM s.bid
            CREATE VIEW v AS SELECT b.price FROM "bid" AS b, auction, hot hot           | CREATE VIEW v AS SELECT b.price FROM s.bid AS b, s.auction, s.hot hot
            CREATE VIEW v AS WITH bid AS (SELECT * FROM bid) SELECT price FROM bid      | CREATE VIEW v AS WITH bid AS (SELECT * FROM s.bid) SELECT price FROM bid
            CREATE VIEW v AS SELECT 1 AS bid FROM hot WHERE n IN (SELECT price FROM bid) | CREATE VIEW v AS SELECT 1 AS bid FROM s.hot WHERE n IN (SELECT price FROM s.bid)
            CREATE VIEW v AS SELECT (SELECT max(price) FROM bid), 'bid' FROM hot        | CREATE VIEW v AS SELECT (SELECT max(price) FROM s.bid), 'bid' FROM s.hot
            CREATE SINK o FROM bid WITH (connector = 'blackhole')                       | CREATE SINK o FROM s.bid WITH (connector = 'blackhole')
            """)
    void namesOfTheCatalogTakeThePlacesOfThoseThatAreWritten(String written, String kept) {
        assertEquals(kept, named(written));
    }

    @Test
    void whatIsMadeIsFoundBehindItsKind() {
        for (String sql : List.of(
                "CREATE TABLE n (a INT)",
                "CREATE UNLOGGED TABLE IF NOT EXISTS n (a INT)",
                "CREATE OR REPLACE VIEW n AS SELECT 1",
                "CREATE MATERIALIZED VIEW IF NOT EXISTS n AS SELECT 1",
                "CREATE CONTINUOUS QUERY n AS SELECT price FROM bid",
                "CREATE QUERY TEMPLATE n (a INT) AS SELECT price FROM bid WHERE price > a",
                "CREATE FUNCTION n(a INT) RETURNS INT LANGUAGE SQL AS 'a'",
                "CREATE STREAM n (a INT)",
                "CREATE SINK n FROM bid WITH (connector = 'blackhole')")) {
            NamedText text = new NamedText(frontend.parse(sql).get(0));
            assertEquals(Optional.of(List.of("n")), text.newName(), sql);
            text.putNewName("s.n");
            assertEquals(sql.replaceFirst("\\bn\\b", "s.n"), text.text());
        }
        NamedText qualified =
                new NamedText(frontend.parse("CREATE TABLE d.\"S x\".t (a INT)").get(0));
        assertEquals(Optional.of(List.of("d", "S x", "t")), qualified.newName());
        qualified.putNewName("S x.t");
        assertEquals("CREATE TABLE \"S x\".t (a INT)", qualified.text());
        assertFalse(new NamedText(frontend.parse("CREATE TEMP TABLE n (a INT)").get(0))
                .newName()
                .isPresent());
    }

    @Test
    void aTextInTheCatalogsNamesStaysAsItIs() {
        String sql = "CREATE VIEW v AS SELECT price FROM bid";
        assertFalse(frontend.named(frontend.parse(sql).get(0), new TestCatalog(), Parameters.none())
                .isOther());
    }
}
