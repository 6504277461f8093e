//! Everyday use of kube-rs.
//!
//! Works in the namespace $NS and prints the server's answers. The transcript is
//! the same on every API server: the program chooses all names and leaves out
//! uids, versions and times.

mod discovery;
mod leases;
mod support;

use std::env;

use anyhow::{bail, Context, Result};
use futures::{pin_mut, TryStreamExt};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Node, Pod},
    policy::v1::PodDisruptionBudget,
};
use kube::{
    api::{
        Api, DeleteParams, EvictParams, ListParams, ObjectList, Patch, PostParams, Preconditions,
        PropagationPolicy, WatchEvent, WatchParams,
    },
    runtime::{reflector, watcher, WatchStreamExt},
    ResourceExt,
};
use serde_json::{from_value, json};
use support::{eventually, names, new_pod, Day, NO_PATCH};

impl Day {
    async fn create_and_list(&self) -> Result<()> {
        let pod = self.create_pod("web-1", json!({"app": "web", "tier": "a"})).await?;
        let (spec, status) = (pod.spec.unwrap_or_default(), pod.status.unwrap_or_default());
        let policies = (spec.restart_policy, &spec.containers[0].image_pull_policy);
        println!("created: {:?} {:?} {policies:?}", status.phase, status.qos_class);
        self.create_pod("web-2", json!({"app": "web", "tier": "b"})).await?;
        self.create_pod("job-1", json!({"app": "job"})).await?;
        println!("got: {:?}", self.pods.get("web-2").await?.labels());
        for selector in ["app=web", "app in (web,job),tier!=a", "!tier"] {
            let list = self.pods.list(&ListParams::default().labels(selector)).await?;
            println!("labels {selector}: {:?}", names(&list.items));
        }
        for selector in [
            "metadata.name=web-1",
            "spec.nodeName=,status.phase=Pending",
            "spec.schedulerName!=nobody",
        ] {
            let list = self.pods.list(&ListParams::default().fields(selector)).await?;
            println!("fields {selector}: {:?}", names(&list.items));
        }
        let nodes: Api<Node> = Api::all(self.client.clone());
        let in_zone = ListParams::default().labels("topology.kubernetes.io/zone=zone-b");
        println!("nodes in zone-b: {:?}", names(&nodes.list(&in_zone).await?.items));
        Ok(())
    }

    async fn pages(&self) -> Result<()> {
        let mut params = ListParams::default().limit(2);
        loop {
            let page: ObjectList<Pod> = self.pods.list(&params).await?;
            println!("page: {:?} {:?}", names(&page.items), page.metadata.remaining_item_count);
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(()),
            }
        }
    }

    async fn patches(&self) -> Result<()> {
        let show = |how: &str, pod: Pod| {
            let image = pod.spec.as_ref().map(|spec| spec.containers[0].image.clone());
            println!("{how}: {:?} {image:?}", pod.labels());
        };
        let image = json!({"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}});
        show("strategic", self.pods.patch("web-1", &NO_PATCH, &Patch::Strategic(image)).await?);
        let operations = from_value(json!([
            {"op": "test", "path": "/metadata/labels/tier", "value": "a"},
            {"op": "add", "path": "/metadata/labels/color", "value": "red"},
            {"op": "remove", "path": "/metadata/labels/tier"},
        ]))?;
        show("json", self.pods.patch("web-1", &NO_PATCH, &Patch::Json::<()>(operations)).await?);
        let merged = json!({"metadata": {"labels": {"color": null, "size": "big"}}});
        show("merge", self.merge("web-1", merged).await?);
        for condition in [
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}),
            json!({"type": "example.com/Fed", "status": "True"}),
        ] {
            let patch = Patch::Strategic(json!({"status": {"conditions": [condition]}}));
            self.pods.patch_status("web-1", &NO_PATCH, &patch).await?;
        }
        let status = self.pods.get_status("web-1").await?.status.unwrap_or_default();
        let mut conditions: Vec<_> = status
            .conditions
            .into_iter()
            .flatten()
            .map(|c| (c.type_, c.status, c.reason))
            .collect();
        conditions.sort();
        println!("status: {conditions:?}");
        Ok(())
    }

    async fn errors(&self) -> Result<()> {
        let post = PostParams::default();
        self.refused("get", self.pods.get("nobody").await)?;
        for name in ["web-1", "Web_1"] {
            let answer = self.pods.create(&post, &new_pod(name, json!({}))?).await;
            self.refused(&format!("create {name}"), answer)?;
        }
        let mut stale = self.pods.get("web-2").await?;
        self.merge("web-2", json!({"metadata": {"labels": {"a": "b"}}})).await?;
        stale.labels_mut().insert("a".into(), "c".into());
        self.refused("stale update", self.pods.replace("web-2", &post, &stale).await)?;
        let node = json!({"spec": {"nodeName": "node-2"}});
        self.refused("new node", self.merge("web-2", node).await)?;
        let test = from_value(json!([{"op": "test", "path": "/metadata/labels/a", "value": "c"}]))?;
        let answer = self.pods.patch("web-2", &NO_PATCH, &Patch::Json::<()>(test)).await;
        self.refused("bad test", answer)?;
        let fields = ListParams::default().fields("spec.color=red");
        self.refused("bad selector", self.pods.list(&fields).await)?;
        let other = DeleteParams {
            preconditions: Some(Preconditions {
                uid: Some("another".into()),
                resource_version: None,
            }),
            ..Default::default()
        };
        self.refused("other uid", self.pods.delete("web-2", &other).await)
    }

    async fn watching(&self) -> Result<()> {
        let start = self.pods.list(&ListParams::default()).await?;
        let version = start.metadata.resource_version.context("no version")?;
        self.create_pod("seen", json!({"app": "seen"})).await?;
        self.merge("seen", json!({"metadata": {"labels": {"a": "b"}}})).await?;
        self.pods.delete("seen", &DeleteParams::default()).await?;
        let params = WatchParams::default().labels("app=seen").timeout(30);
        let events = self.pods.watch(&params, &version).await?;
        pin_mut!(events);
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Added(pod) => println!("watch: ADDED {:?}", pod.labels()),
                WatchEvent::Modified(pod) => println!("watch: MODIFIED {:?}", pod.labels()),
                WatchEvent::Deleted(pod) => {
                    println!("watch: DELETED {:?}", pod.labels());
                    return Ok(());
                }
                WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(status) => bail!("the watch fails: {status:?}"),
            }
        }
        bail!("the watch ends without DELETED")
    }

    /// Fills a reflector's store in both ways: by lists and by streaming lists.
    async fn informing(&self) -> Result<()> {
        for (how, config) in [
            ("list", watcher::Config::default().page_size(1)),
            ("stream", watcher::Config::default().streaming_lists()),
        ] {
            for name in ["told-1", "told-2"] {
                self.create_pod(name, json!({"app": "told"})).await?;
            }
            let (store, writer) = reflector::store();
            let events = watcher(self.pods.clone(), config.labels("app=told"))
                .default_backoff()
                .reflect(writer);
            pin_mut!(events);
            while let Some(event) = events.try_next().await? {
                match event {
                    watcher::Event::Init => println!("{how}: init"),
                    watcher::Event::InitApply(pod) => println!("{how}: init {}", pod.name_any()),
                    watcher::Event::Apply(pod) => {
                        println!("{how}: apply {} {:?}", pod.name_any(), pod.labels())
                    }
                    watcher::Event::Delete(pod) => {
                        println!("{how}: delete {} {:?}", pod.name_any(), pod.labels());
                        if store.is_empty() {
                            break;
                        }
                    }
                    watcher::Event::InitDone => {
                        let mut stored: Vec<_> =
                            store.state().iter().map(|pod| pod.name_any()).collect();
                        stored.sort();
                        println!("{how}: init done, stored {stored:?}");
                        let out = json!({"metadata": {"labels": {"app": "else"}}});
                        self.merge("told-1", out).await?;
                        self.pods.delete("told-2", &DeleteParams::default()).await?;
                    }
                }
            }
            self.pods.delete("told-1", &DeleteParams::default()).await?;
        }
        Ok(())
    }

    async fn binding(&self) -> Result<()> {
        let answer = self.bind("web-1", "node-1").await?;
        println!("bind: {} {:?}", answer.code, answer.status);
        self.runs("web-1").await?;
        let pod = self.pods.get("web-1").await?;
        let (spec, status) = (pod.spec.unwrap_or_default(), pod.status.unwrap_or_default());
        let ready: Vec<_> = status
            .container_statuses
            .into_iter()
            .flatten()
            .map(|container| (container.name, container.ready))
            .collect();
        println!("bound: {:?} {:?} {ready:?}", spec.node_name, status.phase);
        self.refused("bind again", self.bind("web-1", "node-2").await)?;
        self.refused("bind nobody", self.bind("nobody", "node-2").await)
    }

    async fn evicting(&self) -> Result<()> {
        let budgets: Api<PodDisruptionBudget> = Api::namespaced(self.client.clone(), &self.ns);
        let evict = EvictParams::default();
        self.run_pod("precious", json!({"app": "precious"})).await?;
        let budget: PodDisruptionBudget = from_value(json!({
            "metadata": {"name": "precious"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "precious"}}},
        }))?;
        budgets.create(&PostParams::default(), &budget).await?;
        eventually("the budget counts", || async {
            let status = budgets.get_status("precious").await?.status;
            Ok(status.is_some_and(|status| status.current_healthy == Some(1)))
        })
        .await?;
        self.refused("evict precious", self.pods.evict("precious", &evict).await)?;
        budgets.delete("precious", &DeleteParams::default()).await?;
        let answer = self.pods.evict("precious", &evict).await?;
        println!("evict precious: {} {:?}", answer.code, answer.status);
        self.goes("precious").await?;
        self.refused("evict nobody", self.pods.evict("nobody", &evict).await)
    }

    async fn deleting(&self) -> Result<()> {
        let grace = DeleteParams::default().grace_period(5);
        let pod = self.pods.delete("web-1", &grace).await?.left().context("no pod")?;
        println!(
            "delete with grace: {:?} {}",
            pod.metadata.deletion_grace_period_seconds,
            pod.metadata.deletion_timestamp.is_some()
        );
        self.goes("web-1").await?;
        self.run_pod("brief", json!({})).await?;
        let deleted = self.pods.delete("brief", &DeleteParams::default().grace_period(0)).await?;
        println!(
            "delete at once: a pod={}, still there={}",
            deleted.is_left(),
            self.pods.get_opt("brief").await?.is_some()
        );
        self.create_pod("doomed-1", json!({"app": "doomed"})).await?;
        self.create_pod("doomed-2", json!({"app": "doomed"})).await?;
        let doomed = ListParams::default().labels("app=doomed");
        let deleted = self.pods.delete_collection(&DeleteParams::default(), &doomed).await?;
        println!("delete a collection: {:?}", deleted.left().map(|list| names(&list.items)));
        println!("left: {:?}", names(&self.pods.list(&ListParams::default()).await?.items));
        self.refused("delete", self.pods.delete("doomed-1", &grace).await)
    }

    async fn scaling(&self) -> Result<()> {
        let mut template = json!(new_pod("", json!({"app": "shop"}))?);
        template["spec"]["schedulerName"] = json!("default-scheduler");
        template["metadata"] = json!({"labels": {"app": "shop"}});
        let deployment: Deployment = from_value(json!({
            "metadata": {"name": "shop"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "shop"}},
                "template": template,
            },
        }))?;
        let created = self.deployments.create(&PostParams::default(), &deployment).await?;
        let spec = created.spec;
        println!("deployment: {:?} {:?}", spec.replicas, spec.strategy);
        self.ready(2).await?;
        for replicas in [3, 1] {
            let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
            let scale = self.deployments.patch_scale("shop", &NO_PATCH, &patch).await?;
            println!(
                "scaled: {:?} {:?}",
                scale.spec.and_then(|spec| spec.replicas),
                scale.status.and_then(|status| status.selector)
            );
            self.ready(replicas).await?;
        }
        let scale = self.deployments.get_scale("shop").await?;
        println!(
            "scale: {:?} {:?}",
            scale.spec.and_then(|spec| spec.replicas),
            scale.status.map(|status| status.replicas)
        );
        let background = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            ..Default::default()
        };
        let deleted = self.deployments.delete("shop", &background).await?;
        println!("deployment deleted: {:?}", deleted.right().map(|status| status.is_success()));
        let shop = ListParams::default().labels("app=shop");
        eventually("the shop's pods go", || async {
            Ok(self.pods.list(&shop).await?.items.is_empty())
        })
        .await
    }

    async fn ready(&self, replicas: i32) -> Result<()> {
        eventually("replicas", || async {
            let status = self.deployments.get_status("shop").await?.status.unwrap_or_default();
            Ok([status.replicas, status.ready_replicas, status.updated_replicas]
                .iter()
                .all(|number| *number == Some(replicas)))
        })
        .await?;
        println!("ready: {replicas}");
        Ok(())
    }
}

/// Prints the name of each part and runs it.
macro_rules! play {
    ($day:ident, $($part:ident)*) => {
        $(
            println!("# {}", stringify!($part));
            $day.$part().await?;
        )*
    };
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let day = Day::new(env::var("NS").context("NS is not set: set it to a namespace")?).await?;
    play!(day, discovery access dynamic create_and_list pages patches errors watching informing
        binding evicting deleting scaling leases leader_election);
    Ok(())
}
