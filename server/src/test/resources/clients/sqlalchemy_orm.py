"""SQLAlchemy: reflection of everything there is, Core, and the ORM's basics, over psycopg."""
import datetime
import decimal
import sys

from sqlalchemy import (BigInteger, Column, MetaData, Numeric, String, Table, create_engine, func, inspect, select, text)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

engine = create_engine(sys.argv[1])


def check(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
    connection.execute(text("CREATE STREAM sa_orders (id BIGINT, shop TEXT, amount NUMERIC(10,2), at TIMESTAMP)"))
    connection.execute(text(
        "CREATE MATERIALIZED VIEW sa_shops AS SELECT shop, count(*) AS n, sum(amount) AS total FROM sa_orders GROUP BY shop"))
    connection.execute(text("CREATE CONTINUOUS QUERY sa_large AS SELECT * FROM sa_orders WHERE amount > 100"))
    connection.execute(text("CREATE TABLE sa_rates (code VARCHAR(3), day DATE, rate DOUBLE PRECISION NOT NULL,"
                            " PRIMARY KEY (code, day))"))

# Reflection.
inspector = inspect(engine)
check(inspector.default_schema_name, "public")
assert {"public", "information_schema", "millrace"} <= set(inspector.get_schema_names()), inspector.get_schema_names()
tables = inspector.get_table_names()
assert {"sa_orders", "sa_rates"} <= set(tables), tables
assert "sa_large" in inspector.get_view_names(), inspector.get_view_names()
assert "sa_shops" in inspector.get_materialized_view_names(), inspector.get_materialized_view_names()
columns = {column["name"]: column for column in inspector.get_columns("sa_rates")}
check(list(columns), ["code", "day", "rate"])
check(str(columns["code"]["type"]), "VARCHAR(3)")
check(str(columns["day"]["type"]), "DATE")
check([column["nullable"] for column in columns.values()], [False, False, False])
check(str({column["name"]: column["type"] for column in inspector.get_columns("sa_orders")}["amount"]), "NUMERIC(10, 2)")
check(inspector.get_pk_constraint("sa_rates")["constrained_columns"], ["code", "day"])
check(inspector.get_foreign_keys("sa_rates"), [])
check(inspector.get_unique_constraints("sa_rates"), [])
check(inspector.get_check_constraints("sa_rates"), [])
check(inspector.get_indexes("sa_rates"), [])
check(inspector.get_table_comment("sa_rates"), {"text": None})
check(inspector.get_sequence_names(), [])
assert "SELECT" in inspector.get_view_definition("sa_large"), inspector.get_view_definition("sa_large")
check(inspector.has_table("sa_rates"), True)
check(inspector.has_table("sa_nothing"), False)
metadata = MetaData()
metadata.reflect(engine, views=True)
assert {"sa_orders", "sa_rates", "sa_large", "sa_shops"} <= set(metadata.tables), list(metadata.tables)
reflected = Table("sa_shops", MetaData(), autoload_with=engine)
check([column.name for column in reflected.columns], ["shop", "n", "total"])

# Core.
orders = Table("sa_orders", MetaData(), Column("id", BigInteger), Column("shop", String), Column("amount", Numeric(10, 2)))
with engine.begin() as connection:
    connection.execute(orders.insert(), [{"id": i, "shop": f"shop {i % 3}", "amount": decimal.Decimal(i)} for i in range(300)])
with engine.connect() as connection:
    rows = connection.execute(select(reflected.c.shop, reflected.c.n).order_by(reflected.c.shop)).all()
    check(rows, [("shop 0", 100), ("shop 1", 100), ("shop 2", 100)])
    check(connection.scalar(select(func.sum(reflected.c.total))), decimal.Decimal("44850.00"))
    check(connection.execute(select(reflected.c.shop).where(reflected.c.shop.in_(["shop 1", "x"]))).scalars().all(), ["shop 1"])
    streamed = connection.execution_options(stream_results=True, yield_per=10).execute(
        text("SELECT n FROM generate_series(1, 95) AS g(n) ORDER BY n"))
    check(len(streamed.all()), 95)


# The ORM.
class Base(DeclarativeBase):
    pass


class Rate(Base):
    __tablename__ = "sa_rates"
    code: Mapped[str] = mapped_column(String(3), primary_key=True)
    day: Mapped[datetime.date] = mapped_column(primary_key=True)
    rate: Mapped[float]


class Place(Base):
    __tablename__ = "sa_places"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str | None]


Base.metadata.create_all(engine)
day = datetime.date(2024, 1, 1)
with Session(engine) as session:
    session.add_all([Rate(code=code, day=day, rate=rate) for code, rate in (("EUR", 1.0), ("USD", 1.1), ("GBP", .85))])
    session.add(Place(id=1, name="mill"))
    session.commit()
with Session(engine) as session:
    check(session.get(Rate, ("USD", day)).rate, 1.1)
    check([rate.code for rate in session.scalars(select(Rate).where(Rate.rate < 1.05).order_by(Rate.code))], ["EUR", "GBP"])
    session.get(Rate, ("USD", day)).rate = 1.2
    session.delete(session.get(Rate, ("GBP", day)))
    session.commit()
    check(session.execute(select(Rate.code, Rate.rate).order_by(Rate.code)).all(), [("EUR", 1.0), ("USD", 1.2)])
    session.add(Place(id=2, name="race"))
    session.flush()
    session.rollback()
    check(session.scalar(select(func.count()).select_from(Place)), 1)
Base.metadata.drop_all(engine)
check(inspect(engine).has_table("sa_places"), False)
print("done")
