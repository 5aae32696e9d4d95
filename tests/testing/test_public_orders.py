"""confluentinc/kafka-streams-examples: its microservices, judged by their own tests.

From the repository come facts only: topics, what the services compute, and the records of their
tests. Avro is JSON here. docs/applications.md has their lines.
"""

from __future__ import annotations

import json as text_of_json
from typing import Any, TypedDict

import pytest
from millrace_runtime import (
    KeyValueStore,
    Processor,
    ProcessorContext,
    Record,
    Topology,
    integer,
    json,
    key_value_store,
    long,
    sessions,
    string,
    within,
)

from tests.testing.piping import Create, pipe, read

pytestmark = [pytest.mark.spark, pytest.mark.slow]


class Order(TypedDict):
    id: str
    customerId: int
    state: str
    product: str
    quantity: int
    price: float


class OrderValue(TypedDict):
    order: Order | None
    value: float


class Validation(TypedDict):
    orderId: str
    checkType: str
    validationResult: str


class Stocked(TypedDict):
    order: Order
    stock: int


class ReservesStock(Processor):
    """Validates an order if the warehouse has more than what earlier orders have reserved."""

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context
        self.reserved = context.store("store-of-reserved-stock", KeyValueStore[str, int])

    def process(self, record: Record[Any, Any]) -> None:
        order, stock = record.value.order, record.value.stock
        reserved = self.reserved.get(order.product) or 0
        enough = stock - reserved - order.quantity >= 0
        if enough:
            self.reserved.put(order.product, reserved + order.quantity)
        found = Validation(
            orderId=order.id,
            checkType="INVENTORY_CHECK",
            validationResult="PASS" if enough else "FAIL",
        )
        self.context.forward(record.replace(key=order.id, value=found))


class TestOrders:
    """confluentinc/kafka-streams-examples: the services of its microservices."""

    def order(self, *given: Any) -> tuple[str, dict[str, Any]]:
        names = ("id", "customerId", "state", "product", "quantity", "price")
        return given[0], dict(zip(names, given, strict=True))

    def validation(self, order: str, kind: str, result: str) -> tuple[str, dict[str, Any]]:
        return order, {"orderId": order, "checkType": kind, "validationResult": result}

    def test_orders_over_a_limit_are_fraud(self, topology_test_driver: Create) -> None:
        topology = Topology("FraudService")
        orders = topology.stream("orders", key=string(), value=json(Order))
        created = orders.filter(lambda order: order["state"] == "CREATED")
        by_customer = created.group_by(lambda order: order["customerId"])
        totals = by_customer.windowed_by(sessions("1 hour", grace="0 seconds")).aggregate(
            OrderValue,
            initializer=lambda: {"order": None, "value": 0.0},
            aggregator=lambda key, order, total: {
                "order": order,
                "value": total["value"] + order["quantity"] * order["price"],
            },
            merger=lambda key, left, right: {
                "order": right["order"],
                "value": left["value"] + right["value"],
            },
        )
        of_orders = totals.to_stream().filter(lambda total: total is not None)
        forks = of_orders.select_key("value.order.id").split(
            {"FAIL": "value.value >= 2000", "PASS": "value.value < 2000"}
        )
        for result, fork in forks.items():
            fork.map_values(
                f"named_struct('orderId', key, 'checkType', 'FRAUD_CHECK', "
                f"'validationResult', '{result}')"
            ).to("order-validations")
        driver = topology_test_driver(topology)
        given = [
            (0, "UNDERPANTS", 3, 5.0), (0, "JUMPERS", 1, 75.0), (1, "JUMPERS", 1, 75.0),
            (1, "JUMPERS", 1, 75.0), (1, "JUMPERS", 50, 75.0), (2, "UNDERPANTS", 10, 100.0),
            (2, "UNDERPANTS", 10, 100.0), (2, "UNDERPANTS", 1, 5.0),
        ]  # fmt: skip
        for number, (customer, *rest) in enumerate(given):
            pipe(driver, "orders", [self.order(str(number), customer, "CREATED", *rest)])
        results = ["PASS", "PASS", "PASS", "PASS", "FAIL", "PASS", "FAIL", "FAIL"]
        assert read(driver, "order-validations") == [
            self.validation(str(number), "FRAUD_CHECK", result)
            for number, result in enumerate(results)
        ]

    def test_orders_reserve_what_is_in_stock(self, topology_test_driver: Create) -> None:
        topology = Topology("InventoryService")
        orders = topology.stream("orders", key=string(), value=json(Order))
        stock = topology.table("warehouse-inventory", key=string(), value=integer())
        reserved = key_value_store("store-of-reserved-stock", key_type=str, value_type="BIGINT")
        by_product = orders.select_key("value.product").filter("value.state = 'CREATED'")
        checked = by_product.join(
            stock, joiner=lambda order, stock: {"order": order, "stock": stock}
        ).process(ReservesStock, stores=[reserved], value_type=Validation)
        checked.to("order-validations")
        driver = topology_test_driver(topology)
        pipe(driver, "warehouse-inventory", [("UNDERPANTS", 75), ("JUMPERS", 1)])
        given = [(1, "UNDERPANTS", 3, 10.0), (2, "JUMPERS", 1, 75.0), (2, "JUMPERS", 1, 75.0)]
        for number, (customer, *rest) in enumerate(given):
            pipe(driver, "orders", [self.order(str(number), customer, "CREATED", *rest)])
        assert read(driver, "order-validations") == [
            self.validation(str(number), "INVENTORY_CHECK", result)
            for number, result in enumerate(["PASS", "PASS", "FAIL"])
        ]
        assert dict(driver.store("store-of-reserved-stock").all()) == {
            "UNDERPANTS": 3,
            "JUMPERS": 1,
        }

    def test_three_rules_validate_an_order(self, topology_test_driver: Create) -> None:
        topology = Topology("ValidationsAggregatorService")
        checks = topology.stream("order-validations", key=string(), value=json(Validation))
        orders = topology.stream("orders", key=string(), value=json(Order))
        orders = orders.filter(lambda order: order["state"] == "CREATED")
        passed = checks.group_by_key().windowed_by(sessions("5 minutes", grace="0 seconds"))
        window = within("5 minutes", grace="0 seconds")
        passed.aggregate(
            "BIGINT",
            initializer="0L",
            aggregator="if(value.validationResult = 'PASS', agg + 1, agg)",
            merger="coalesce(right, left)",
        ).to_stream().select_key("key.key").filter("value >= 3").join(
            orders, window, joiner=lambda total, order: {**order, "state": "VALIDATED"}
        ).to("orders")
        failed = checks.filter(lambda check: check["validationResult"] == "FAIL").join(
            orders, window, joiner=lambda check, order: {**order, "state": "FAILED"}
        )
        failed.group_by_key().reduce("agg").to_stream().to("orders")
        driver = topology_test_driver(topology)
        given = [("0", 0, "UNDERPANTS", 3, 5.0), ("1", 0, "JUMPERS", 1, 75.0)]
        for key, customer, *rest in given:
            pipe(driver, "orders", [self.order(key, customer, "CREATED", *rest)])
        kinds = ("FRAUD_CHECK", "ORDER_DETAILS_CHECK", "INVENTORY_CHECK")
        results = {"0": ("PASS", "PASS", "PASS"), "1": ("PASS", "FAIL", "PASS")}
        for key, found in results.items():
            checked = zip(kinds, found, strict=True)
            pipe(driver, "order-validations", [self.validation(key, *each) for each in checked])
        assert read(driver, "orders") == [
            self.order("0", 0, "VALIDATED", "UNDERPANTS", 3, 5.0),
            self.order("1", 0, "FAILED", "JUMPERS", 1, 75.0),
        ]

    def test_an_email_has_order_payment_and_customer(
        self, topology_test_driver: Create, capsys: pytest.CaptureFixture[str]
    ) -> None:
        topology = Topology("EmailService")
        orders = topology.stream("orders", key=string(), value=json(Order))
        payments = topology.stream(
            "payments",
            key=string(),
            value=json("id STRING, orderId STRING, ccy STRING, amount DOUBLE"),
        ).select_key(lambda payment: payment["orderId"])
        customers = topology.global_table(
            "customers",
            key=long(),
            value=json(
                "id BIGINT, firstName STRING, lastName STRING, email STRING, address STRING, "
                "level STRING"
            ),
        )
        paid = orders.join(
            payments,
            within("1 minute", grace="0 seconds"),
            joiner=lambda order, payment: {"order": order, "payment": payment},
        )
        paid.join(
            customers,
            key=lambda paid: paid["order"]["customerId"],
            joiner=lambda paid, customer: {**paid, "customer": customer},
        ).peek("to_json(value)", name="email")
        orders.join(
            customers,
            key=lambda order: order["customerId"],
            joiner=lambda order, customer: {
                "id": order["id"],
                "customerId": order["customerId"],
                "customerLevel": customer["level"],
            },
        ).to(topic_expression=lambda enriched: enriched["customerLevel"])
        driver = topology_test_driver(topology)
        customer = {
            "id": 15, "firstName": "Franz", "lastName": "Kafka", "email": "frans@thedarkside.net",
            "address": "oppression street, prague, cze", "level": "gold",
        }  # fmt: skip
        payment = {"id": "Payment:1234", "orderId": "0", "ccy": "CZK", "amount": 1000.0}
        order = self.order("0", 15, "CREATED", "UNDERPANTS", 3, 5.0)
        pipe(driver, "customers", [(15, customer)])
        pipe(driver, "orders", [order])
        pipe(driver, "payments", [("Payment:1234", payment)])
        node, _, sent = capsys.readouterr().out.strip().partition(": ")
        assert node == "email"
        assert text_of_json.loads(sent) == {
            "order": order[1],
            "payment": payment,
            "customer": customer,
        }
        enriched = {"id": "0", "customerId": 15, "customerLevel": "gold"}
        assert read(driver, "gold") == [("0", enriched)]
