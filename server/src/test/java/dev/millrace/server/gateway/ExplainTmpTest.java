package dev.millrace.server.gateway;
import dev.millrace.server.session.TestDatabase;
import org.junit.jupiter.api.Test;
class ExplainTmpTest {
  @Test void t() {
    try (TestDatabase db = new TestDatabase()) {
      db.run("CREATE STREAM plant (ts TIMESTAMP, machine TEXT, temp DOUBLE PRECISION, n BIGINT, k INTEGER, r REAL, ok BOOLEAN, d DATE, WATERMARK FOR ts AS ts - INTERVAL '5 seconds') WITH (connector = 'edge', include.device = 'device')");
      for (String q : new String[]{
       "SELECT machine, window_start, count(*) AS c, sum(k) AS s, avg(k) AS a, min(temp) AS l, max(r) AS h, avg(temp) b FROM TUMBLE(TABLE plant, DESCRIPTOR(ts), INTERVAL '10 seconds') WHERE temp > 3 GROUP BY machine, window_start, window_end",
       "SELECT window_start, count(n) AS c, sum(n) FROM TUMBLE(TABLE plant, DESCRIPTOR(ts), INTERVAL '10 seconds') GROUP BY window_start, window_end",
       "SELECT device, window_end, count(*) AS c, max(k) - min(k) FROM TUMBLE(TABLE plant, DESCRIPTOR(ts), INTERVAL '10 seconds') GROUP BY device, window_start, window_end HAVING count(*) > 2"})
        for (String o : new String[]{"", " WITH (run_at = 'edge')"})
        System.out.println(String.join("\n", db.rows("EXPLAIN (PHYSICAL) CREATE MATERIALIZED VIEW q" + o + " AS " + q)) + "\n-----");
      System.out.println(db.rows("SELECT (7::numeric(38,0)) / (3::bigint), pg_typeof((7::numeric(38,0)) / (3::bigint)::numeric(38,0))"));
    }
  }
}
